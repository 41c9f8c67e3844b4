/* The engine: see types.ts. */
import { bvhApi } from "./bvh.ts";
import { isaApi } from "./isa.ts";
import { Link } from "./link.ts";
import { machineApi, type MachineApi } from "./machines.ts";
import { rtApi } from "./rt.ts";
import { sceneApi } from "./scene.ts";
import type { BvhApi, EngineInfo, EngineSource, IsaApi, RtApi, SceneApi } from "./types.ts";

export * from "./types.ts";

export class Engine {
  readonly bvh: BvhApi;
  readonly isa: IsaApi;
  readonly machines: MachineApi;
  readonly rt: RtApi;
  readonly scenes: SceneApi;

  constructor(readonly link: Link) {
    this.bvh = bvhApi(link);
    this.isa = isaApi(link);
    this.rt = rtApi(link);
    this.scenes = sceneApi(link);
    this.machines = machineApi(link);
  }

  get ready(): Promise<EngineInfo> {
    return this.link.ready;
  }

  close(): void {
    this.link.close();
  }
}

export function startEngine(source: EngineSource): Engine {
  return new Engine(new Link(source));
}
