// What a build tells the code. Owns no value: build/build.mjs does.

/** Which browser this was built for. */
declare const __BROWSER__: "chrome" | "firefox";
/** The extensions' version. */
declare const __VERSION__: string;
/** The id of the extension `harbor` in this browser. */
declare const __HARBOR_ID__: string;
/** The id of the extension `web-agents-api` in this browser. */
declare const __WEB_AGENTS_API_ID__: string;
/** Tests only: the directory of this workspace. */
declare const __ROOT__: string;
