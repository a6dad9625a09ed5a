// Has an origin find the `LanguageModel` that the person wants there: "never".
//
// Registered for origins of which the person has said so, and for no others.

import { prefer } from "./preference.ts";

prefer("never");
