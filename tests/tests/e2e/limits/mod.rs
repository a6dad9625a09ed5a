//! How many calls an origin may have at once, in a minute and in a run; and that whatever a call held comes back.

mod queue;
mod rates;
mod runs;
mod slots;
mod times;

use harbor_tests::{Asker, Bridge, Client, Double, ErrorValue, Home, LIMIT, PROMPT, Pending, wait_until};
use serde_json::{Value, json};

/// A web page's origin.
pub(crate) const PAGE: &str = "https://page.example";

/// Longer than any test.
pub(crate) const FOR_EVER: u64 = 60_000;

/// A bridge with this `config.toml` and the server `s`, and a page that may call its tools.
pub(crate) fn scene(home: &Home, config: &str, double: &Double) -> (Bridge, Asker) {
    home.configure(config);
    let bridge = Bridge::start(home);
    bridge.add_and_connect("s", double);
    let page = bridge.asking(PAGE).allowed();
    (bridge, page)
}

/// Sends a call that stays, and waits until the server has it.
pub(crate) fn hold(page: &Asker, double: &Double) -> Pending {
    let before = double.journal().count("call sleep");
    let call = page.send_call("s/sleep", &json!({"ms": FOR_EVER}));
    wait_until("the call to be made", LIMIT, || double.journal().count("call sleep") > before);
    call
}

/// Sends a call and waits until it waits for its turn.
pub(crate) fn queue(page: &Asker, tool: &str, args: &Value) -> Pending {
    let before = waiting(page);
    let call = page.send_call(tool, args);
    wait_until("the call to wait", LIMIT, || waiting(page) > before);
    call
}

/// Takes a call back.
pub(crate) fn cancel(client: &Client, call: &Pending) {
    client.call("cancel", &json!({"target": call.id})).unwrap();
    assert_eq!(call.wait(PROMPT).unwrap_err().code, "cancelled");
}

pub(crate) fn waiting(page: &Asker) -> u64 {
    page.stats()["waiting"].as_u64().unwrap()
}

pub(crate) fn under_way(page: &Asker) -> u64 {
    page.stats()["underWay"].as_u64().unwrap()
}

/// A call that is quick, or refused.
pub(crate) fn quick(page: &Asker) -> Result<(), ErrorValue> {
    page.call("s/sleep", &json!({"ms": 1})).map(|answer| assert_eq!(answer.content_text(), "slept"))
}

/// That it was refused, and for which limit.
pub(crate) fn assert_limited(error: &ErrorValue, limit: &str) {
    let said = (error.code.as_str(), &error.details["limit"], &error.details["sent"]);
    assert_eq!(said, ("ERR_RATE_LIMITED", &json!(limit), &json!(false)), "{error:?}");
}
