// A navigation of a tab's own document, and how it ended: not every address is a page.
//
//   sets out ─► a document comes
//            ─► a file, or an answer without a page: the tab shows what it showed
//            ─► an error
//
// Pure. Owns what is said of the end.

/** A navigation of a tab's own document. */
export interface Trip {
  /** Its document is there. */
  hasCome: boolean;
  /** Of what was answered, as far as the browser tells. */
  status?: number;
  /** What came is a file. */
  isFile?: boolean;
  /** Why it ended without a document, in the browser's words. */
  error?: string;
  /** Its end was said. */
  isTold?: boolean;
}

/** What browsers say of a navigation that ended without an error and without a document: a file, nothing at all, another one. */
export const isAborted = (error: string): boolean => /ABORTED|2152398850/i.test(error);

/** What browsers call the commonest errors only by a number. */
const NUMBERED: { [number: string]: string } = {
  ...{ 2152398878: "the host is not known", 2152398861: "the connection was refused", 2152398862: "the host did not answer", 2152398863: "too many redirections" },
  ...{ 2152398868: "the connection was reset", 2152398879: "too many redirections", 2152398919: "the connection was cut" },
};

/** How a navigation ended that showed no document; nothing where it showed one, or is under way. Pure. */
export function endOf({ hasCome, error, status, isFile }: Trip): string | undefined {
  if (hasCome) return undefined;
  if (status === 204 || status === 205) return `the server answered ${status}, which has no page`;
  if (error === undefined) return undefined;
  if (isFile) return "it is a file, which the browser saves";
  if (isAborted(error)) return "it is no page: it is a file that the browser saves, or it was stopped";
  const number = /^Error code (\d+)$/.exec(error)?.[1] ?? "";
  return `the page could not be loaded: ${NUMBERED[number] ?? error}`;
}

/** True for an answer that no browser shows. */
export const isWithoutPage = ({ status, isFile }: Trip): boolean => status === 204 || status === 205 || isFile === true;

/** True where a navigation ended as one of its kind does, without an error. */
export const isWhole = (trip: Trip): boolean => isWithoutPage(trip) || isAborted(trip.error ?? "");
