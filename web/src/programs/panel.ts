/* What a panel of the right side is, and what it looks at. Only the panel that is seen is filled. */

import type { CallOptions } from "../engine/types.ts";
import type { Option } from "./options.ts";
import type { MachineState, Session } from "../engine/machines.ts";

export interface Look {
  readonly session: Session;
  readonly state: MachineState;
  /** The state that was shown before this one: what differs is marked. */
  readonly before: MachineState | undefined;
  readonly core: number;
  /** The line of the editor that an instruction comes from; 0: of none. Kernels of a list stand in its strings. */
  lineAt(pc: string): number;
  /** The machine's. */
  readonly options: readonly Option[];
}

export interface Desk {
  /** Something in the machine was changed by hand: everything is read again. */
  refresh(): void;
  /** Shows the source line. */
  goTo(line: number): void;
  /** To the state after so many steps. */
  travel(steps: number): void;
  fail(error: unknown): void;
  /** Something long, behind a bar with Cancel; undefined when it was cancelled. */
  long<T>(text: string, work: (options: CallOptions) => Promise<T>): Promise<T | undefined>;
}

export interface Panel {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  /** Undefined: there is no machine. */
  show(look: Look | undefined): void | Promise<void>;
}

export const hex = (value: bigint, digits = 0): string => `0x${value.toString(16).padStart(digits, "0")}`;

/** A line that says why there is nothing. */
export const NOTHING = "Nothing runs yet. Press Step or Run.";
