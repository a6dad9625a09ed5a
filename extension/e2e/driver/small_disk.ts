// A disk that is full: a small file system in the place of a directory.
//
// Owns that mount, which goes with the test. Only root may mount one; `undefined` for everybody else.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";

export class SmallDisk {
  readonly #place: string;

  private constructor(place: string) {
    this.#place = place;
  }

  /** One with room for next to nothing. */
  static at(place: string): SmallDisk | undefined {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k,mode=700", "none", place], { stdio: "ignore" });
    } catch {
      return undefined;
    }
    return new SmallDisk(place);
  }

  /** Somebody makes room. */
  grow(): void {
    execFileSync("mount", ["-o", "remount,size=8m", this.#place]);
  }

  end(): void {
    // Whoever has a file of it open keeps that.
    execFileSync("umount", ["--lazy", this.#place]);
  }
}
