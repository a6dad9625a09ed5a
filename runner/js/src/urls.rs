//! URLs and forms for scripts, by the `url` crate.
//!
//! Owns nothing: it gives the crate's answers the names that scripts know.

use rquickjs::{Array, Ctx, Object, Result};
use url::form_urlencoded::{Serializer, parse};
use url::{Url, quirks};

/// The parts of a URL by their names in JavaScript. None if it is none.
pub(crate) fn read<'js>(ctx: Ctx<'js>, text: String, base: Option<String>) -> Result<Option<Object<'js>>> {
    let parsed = match base {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&text)),
        None => Url::parse(&text),
    };
    parsed.ok().map(|url| parts(&ctx, &url)).transpose()
}

/// A URL with one part changed. As of the URL Standard, a value that does not fit changes nothing.
pub(crate) fn set<'js>(
    ctx: Ctx<'js>,
    href: String,
    part: String,
    value: String,
) -> Result<Option<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    let _unfit = match part.as_str() {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        _ => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
    };
    parts(&ctx, &url).map(Some)
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let all = Object::new(ctx.clone())?;
    all.set("href", quirks::href(url))?;
    all.set("origin", quirks::origin(url))?;
    all.set("protocol", quirks::protocol(url))?;
    all.set("username", quirks::username(url))?;
    all.set("password", quirks::password(url))?;
    all.set("host", quirks::host(url))?;
    all.set("hostname", quirks::hostname(url))?;
    all.set("port", quirks::port(url))?;
    all.set("pathname", quirks::pathname(url))?;
    all.set("search", quirks::search(url))?;
    all.set("hash", quirks::hash(url))?;
    Ok(all)
}

/// The pairs of a form.
pub(crate) fn form_read<'js>(ctx: Ctx<'js>, text: String) -> Result<Array<'js>> {
    let all = Array::new(ctx.clone())?;
    for (at, (name, value)) in parse(text.as_bytes()).enumerate() {
        let pair = Array::new(ctx.clone())?;
        pair.set(0, &*name)?;
        pair.set(1, &*value)?;
        all.set(at, pair)?;
    }
    Ok(all)
}

/// A form of these pairs.
pub(crate) fn form_write(pairs: Vec<Vec<String>>) -> String {
    let mut form = Serializer::new(String::new());
    for pair in &pairs {
        if let [name, value] = pair.as_slice() {
            form.append_pair(name, value);
        }
    }
    form.finish()
}
