// A terminal at which somebody runs `harbor`: with one, it asks before something is changed.
//
// Owns the process. Must never answer what was not asked.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { until } from "./browser.ts";
import { BIN, type Harbor } from "./harbor.ts";

/** What the last line of a question says. */
const QUESTION = /\? your model wants to call (\S+?):[^]*?\n {2}n: no; [^\n]*\n/g;

/** A question may forget what was typed while it was written. An answer that nothing came of is given again after so long. */
const AGAIN_MS = 2_000;

export class Terminal {
  readonly #process: ChildProcessWithoutNullStreams;
  #shown = "";
  #code: number | null | undefined;

  constructor(harbor: Harbor, ...args: string[]) {
    const words = [join(BIN, "harbor"), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    // util-linux's: it gives a program a terminal of its own, and ends with its exit code.
    this.#process = spawn("script", ["-qefc", words.join(" "), "/dev/null"], { env: { ...harbor.env, SHELL: "/bin/sh", TERM: "dumb" }, cwd: harbor.dir });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#shown += text.replaceAll("\r\n", "\n");
      });
    }
    this.#process.on("close", (code) => {
      this.#code = code;
    });
  }

  /** Says yes to each question until the program ends: the tools that were asked about, all that was shown, and its exit code. */
  async sayYes(): Promise<{ asked: string[]; shown: string; code: number | null }> {
    let answered = { questions: 0, length: 0, at: 0 };
    const code = await until("the program to end", async () => {
      const questions = [...this.#shown.matchAll(QUESTION)].length;
      const isNew = questions > answered.questions;
      const isForgotten = questions > 0 && this.#shown.length === answered.length && Date.now() - answered.at > AGAIN_MS;
      if (isNew || isForgotten) {
        this.#process.stdin.write("y\n");
        answered = { questions, length: this.#shown.length + "y\n".length, at: Date.now() };
      }
      return this.#code;
    }).catch((error: Error) => {
      this.#process.kill();
      throw new Error(`${error.message}; it has shown: ${this.#shown}`);
    });
    return { asked: [...this.#shown.matchAll(QUESTION)].map(([, tool]) => tool ?? ""), shown: this.#shown, code };
  }
}
