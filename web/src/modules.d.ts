/* The worker's script, bundled by build.mjs. */
declare module "facet:worker" {
  const text: string;
  export default text;
}

/* A file of the repository, bundled by build.mjs. */
declare module "facet:text/*" {
  const text: string;
  export default text;
}
