// Every browser tool by its name.

import type { Tool } from "../hand.ts";
import { click } from "./click.ts";
import { consoleMessages } from "./console_messages.ts";
import { cookieClear, cookieDelete, cookieGet, cookieList, cookieSet } from "./cookies.ts";
import { drag } from "./drag.ts";
import { evaluate } from "./evaluate.ts";
import { drop, fileUpload } from "./file_upload.ts";
import { fillForm } from "./fill_form.ts";
import { find } from "./find.ts";
import { handleDialog } from "./handle_dialog.ts";
import { hover } from "./hover.ts";
import { navigate, navigateBack } from "./navigate.ts";
import { networkBody, networkRequest, networkRequests } from "./network_requests.ts";
import { pressKey } from "./press_key.ts";
import { read } from "./read.ts";
import { resize } from "./resize.ts";
import { scroll } from "./scroll.ts";
import { selectOption } from "./select_option.ts";
import { snapshot } from "./snapshot.ts";
import { STORAGE_TOOLS } from "./storage.ts";
import { close, tabs } from "./tabs.ts";
import { takeScreenshot } from "./take_screenshot.ts";
import { type } from "./type.ts";
import { verifyElement, verifyList, verifyText, verifyValue } from "./verify.ts";
import { waitFor } from "./wait_for.ts";

export const TOOLS: ReadonlyMap<string, Tool> = new Map([
  ["browser_tabs", tabs],
  ["browser_navigate", navigate],
  ["browser_navigate_back", navigateBack],
  ["browser_snapshot", snapshot],
  ["browser_find", find],
  ["browser_read", read],
  ["browser_click", click],
  ["browser_hover", hover],
  ["browser_type", type],
  ["browser_press_key", pressKey],
  ["browser_select_option", selectOption],
  ["browser_fill_form", fillForm],
  ["browser_drag", drag],
  ["browser_scroll", scroll],
  ["browser_wait_for", waitFor],
  ["browser_handle_dialog", handleDialog],
  ["browser_take_screenshot", takeScreenshot],
  ["browser_console_messages", consoleMessages],
  ["browser_network_requests", networkRequests],
  ["browser_network_request", networkRequest],
  ["browser_network_body", networkBody],
  ["browser_resize", resize],
  ["browser_verify_text_visible", verifyText],
  ["browser_verify_element_visible", verifyElement],
  ["browser_verify_list_visible", verifyList],
  ["browser_verify_value", verifyValue],
  ["browser_evaluate", evaluate],
  ["browser_cookie_list", cookieList],
  ["browser_cookie_get", cookieGet],
  ["browser_cookie_set", cookieSet],
  ["browser_cookie_delete", cookieDelete],
  ["browser_cookie_clear", cookieClear],
  ...STORAGE_TOOLS,
  ["browser_close", close],
  ["browser_file_upload", fileUpload],
  ["browser_drop", drop],
]);
