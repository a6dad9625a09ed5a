//! What crosses between a script's `fetch` and its fetch process: requests as the script has them, answers as it gets them.
//!
//! Bytes of the script come as texts, each character a byte: the engine's own memory is only read by unsafe code, which this crate
//! has none of. Owns the bounds of a request. Must never keep a value of the script.

use std::rc::Rc;

use harbor_ipc_proto::link::fetch::{Answer, MAX_BODY, MAX_OPEN, Redirects, WebRequest};
use rquickjs::{Array, Ctx, Function, Object, Result, TypedArray};

use crate::fetching::Fetched;
use crate::globals::Host;

/// Adds the functions for `js/fetch.js`, if the script may fetch.
///
/// # Errors
/// An exception: memory is used up.
pub(crate) fn add<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, native: &Object<'js>) -> Result<()> {
    native.set("text", Function::new(ctx.clone(), text)?)?;
    let fetches = host.fetching.borrow().is_allowed();
    native.set("fetches", fetches)?;
    if !fetches {
        return Ok(());
    }
    native.set("most_fetches", MAX_OPEN)?;
    let of = host.clone();
    native.set("ask", Function::new(ctx.clone(), move |ask: Object<'_>| of.ask(&ask))?)?;
    let of = host.clone();
    native.set("abandon", Function::new(ctx.clone(), move |id: u32| of.fetching.borrow_mut().abandon(id))?)
}

impl Host {
    /// Sends a request. Returns why it is not sent.
    fn ask(&self, ask: &Object<'_>) -> Result<Option<String>> {
        let ask = read(ask)?;
        if ask.body.as_ref().is_some_and(|body| body.len() > MAX_BODY) {
            return Ok(Some(format!("a body of more than {} MiB is not sent", MAX_BODY >> 20)));
        }
        Ok(self.stretch.apart(|| self.fetching.borrow_mut().ask(ask)).err())
    }
}

fn read(ask: &Object<'_>) -> Result<WebRequest> {
    let pair = |pair: Vec<String>| <[String; 2]>::try_from(pair).ok().map(|[name, value]| (name, value));
    let headers: Vec<Vec<String>> = ask.get("headers")?;
    let (text, binary): (Option<String>, Option<String>) = (ask.get("text")?, ask.get("binary")?);
    let redirects = match ask.get::<_, String>("redirect")?.as_str() {
        "error" => Redirects::Error,
        "manual" => Redirects::Manual,
        _ => Redirects::Follow,
    };
    Ok(WebRequest {
        id: ask.get("id")?,
        method: ask.get("method")?,
        url: ask.get("url")?,
        headers: headers.into_iter().filter_map(pair).collect(),
        body: text.map(String::into_bytes).or_else(|| binary.as_deref().map(bytes)),
        redirects,
        limit_ms: 0,
    })
}

/// The bytes that a text stands for.
fn bytes(binary: &str) -> Vec<u8> {
    binary.chars().map(|byte| u8::try_from(byte).unwrap_or_default()).collect()
}

/// Gives the script the end of a request.
///
/// # Errors
/// An exception: memory does not suffice for the answer.
pub(crate) fn give<'js>(ctx: &Ctx<'js>, fetched: &Function<'js>, ended: Fetched) -> Result<()> {
    let id = ended.id;
    let given = match ended.outcome {
        Ok(answer) => of(ctx, answer).and_then(|answer| fetched.call::<_, ()>((id, (), answer))),
        Err(why) => return fetched.call((id, why)),
    };
    given.or_else(|_| {
        let _ = ctx.catch();
        fetched.call((id, "there is no memory for the answer; `-- --memory MIB` allows more"))
    })
}

/// An answer, as an object of the script's. Its body counts as the script's memory.
fn of<'js>(ctx: &Ctx<'js>, answer: Answer) -> Result<Object<'js>> {
    let headers = Array::new(ctx.clone())?;
    for (at, (name, value)) in answer.headers.iter().enumerate() {
        let pair = Array::new(ctx.clone())?;
        pair.set(0, name.as_str())?;
        pair.set(1, value.as_str())?;
        headers.set(at, pair)?;
    }
    let made = Object::new(ctx.clone())?;
    made.set("status", answer.status)?;
    made.set("statusText", answer.status_text)?;
    made.set("url", answer.url)?;
    made.set("redirected", answer.redirected)?;
    made.set("headers", headers)?;
    made.set("body", TypedArray::<u8>::new_copy(ctx.clone(), answer.body)?)?;
    Ok(made)
}

/// Bytes as text. What is not UTF-8 becomes U+FFFD, as the Encoding Standard says; a mark of the byte order goes.
fn text(binary: String) -> String {
    let bytes = bytes(&binary);
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned()
}
