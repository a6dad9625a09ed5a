// How a page looks: its size and theme, in Chromium.
//
// Owns nothing but that. Must never be needed by what a page does.

import type { Page } from "./browser.ts";
import { ChromiumPage } from "./chromium.ts";

export interface Look {
  width: number;
  height: number;
  theme: "light" | "dark";
}

export async function look(page: Page, { width, height, theme }: Look): Promise<void> {
  if (!(page instanceof ChromiumPage)) throw new Error("screenshots are made in Chromium");
  await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await page.send("Emulation.setScrollbarsHidden", { hidden: true });
  await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
}
