//! The start of a remote server.
//!
//! Owns turning its definition into the message: nothing is prepared on this machine. Must never let a header's value into
//! a text.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::link::runner::{Launch, Remote as Wire, ToRunner, Transport};
use harbor_policy::credentials::Credentials;
use harbor_policy::oauth::places::is_about;
use harbor_policy::{environment, limits, remote};

use super::Server;
use super::prepared::Unprepared;
use super::secrets::wipe;
use crate::link::EndReport;
use crate::store::definitions::{Carried, Remote};

/// True if a login is for the server at this URL.
pub(super) fn is_for(grant: &Grant, url: &str) -> bool {
    remote::parse(url).is_ok_and(|url| is_about(&grant.resource, &url))
}

impl Server {
    pub(super) fn launch_remote(self: &Rc<Self>, remote: &Remote, secrets: Result<Credentials, Unprepared>) {
        let sent = match secrets {
            Ok(secrets) => self.send_launch_to(remote, &secrets),
            Err(unprepared) => return self.ended_unprepared(unprepared),
        };
        if let Err(end) = sent {
            self.ended_because(end);
        }
    }

    fn send_launch_to(self: &Rc<Self>, remote: &Remote, secrets: &Credentials) -> Result<(), EndReport> {
        let failed = |what: String| EndReport::because("spawn_failed", format!("could not {what}"));
        let remote = self.filled(remote, secrets).map_err(|key| self.lacks(&[key]))?;
        // From now on they are hidden in what is told of it.
        let headers: Vec<_> = remote.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.give_in_headers(secrets, &headers);
        let place = self.place_for_start().map_err(|error| failed(format!("start a runner: {error}")))?;
        let message = ToRunner::Connect { server: place.number, launch: self.launch_to(remote) };
        place.runner.link.send(&message);
        wipe(message);
        place.runner.link.hide(place.number, self.secrets.redactor());
        self.place.take(place);
        Ok(())
    }

    /// The wire form, with the final headers. A reference to a key is replaced by its secret, else by the
    /// definition's variable.
    ///
    /// # Errors
    /// The unknown key that a header names.
    pub(super) fn filled(&self, remote: &Remote, secrets: &Credentials) -> Result<Wire<'static>, String> {
        let (variables, named) = (secrets.variables(), remote::keys(remote.headers.values()));
        let of_header = |key: &str| secrets.headers().find(|(name, _)| *name == key).map(|(_, value)| value);
        let own = |key: &str| {
            let secret = variables.get(key).or_else(|| of_header(key)).map(|value| value.expose().to_owned());
            secret.or_else(|| self.definition().env.get(key).cloned())
        };
        let header = |(name, value): (&String, &String)| Ok((name.clone(), remote::fill(value, own)?));
        let mut headers = remote.headers.iter().map(header).collect::<Result<BTreeMap<_, _>, String>>()?;
        // What a header of the definition names is a part of that one, and none of its own.
        for (name, value) in secrets.headers().filter(|(name, _)| !named.iter().any(|key| key == name)) {
            headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
            headers.insert(name.to_owned(), value.expose().to_owned());
        }
        Ok(Wire {
            url: remote.url.clone().into(),
            transport: match remote.transport {
                Carried::Auto => Transport::Auto,
                Carried::Http => Transport::Http,
                Carried::Sse => Transport::Sse,
            },
            headers: headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            allow_private: remote.allow_private,
            allow_http: remote.allow_http,
            // A login for another URL than it has now is not its own.
            grant: secrets.grant().filter(|grant| is_for(grant, &remote.url)),
        })
    }

    pub(super) fn launch_to(&self, remote: Wire<'static>) -> Launch<'static> {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let env =
            environment::of_remote(inherited, &self.runners().shared.marks.instance, self.id().as_str());
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Launch {
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            known_era: self.known_era(),
            known_revision: self.known_revision().map(Into::into),
            offers_roots: !self.definition().roots.is_empty(),
            start_timeout_ms: millis(self.settings().start_timeout),
            max_line: limits::MAX_LINE,
            eof_grace_ms: millis(self.settings().eof_grace),
            term_grace_ms: millis(self.settings().term_grace),
            remote: Some(remote),
            ..Launch::default()
        }
    }
}
