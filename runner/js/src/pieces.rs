//! The JavaScript that is part of this program.
//!
//! Owns the sources' names and where each is evaluated. Must never take a source from elsewhere.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Exception, Function, Result};

/// The modules that scripts import, with their sources: a server's, and that of a script which Harbor runs once.
const MODULES: [(&str, &str); 2] =
    [("harbor:mcp", include_str!("js/mcp.js")), ("harbor:code", include_str!("js/code.js"))];

/// The source of a module that scripts may import.
pub(crate) fn module(wanted: &str) -> Option<&'static str> {
    MODULES.iter().find(|(name, _)| *name == wanted).map(|(_, source)| *source)
}

/// The source of the globals that every script has.
pub(crate) const CORE: &str = include_str!("js/core.js");

/// The sources of globals that are evaluated when a script first uses them.
const LATER: [(&str, &str); 5] = [
    ("text", include_str!("js/text.js")),
    ("url", include_str!("js/url.js")),
    ("abort", include_str!("js/abort.js")),
    ("clone", include_str!("js/clone.js")),
    ("fetch", include_str!("js/fetch.js")),
];

/// The function that a source is.
///
/// # Errors
/// An exception: the source is wrong, or memory is used up.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, name: &str, source: &str) -> Result<Function<'js>> {
    let mut options = EvalOptions::default();
    options.filename = Some(format!("harbor:{name}"));
    ctx.eval_with_options(source, options)
}

/// The function of a source that is evaluated late.
///
/// # Errors
/// As of [`function`].
pub(crate) fn later<'js>(ctx: &Ctx<'js>, wanted: &str) -> Result<Function<'js>> {
    match LATER.iter().find(|(name, _)| *name == wanted) {
        Some((name, source)) => function(ctx, name, source),
        None => Err(Exception::throw_internal(ctx, "there is no such piece")),
    }
}
