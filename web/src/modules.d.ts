/* The worker's script, bundled by build.mjs. */
declare module "facet:worker" {
  const text: string;
  export default text;
}
