//! Errors of HTTP, in words for people.
//!
//! Owns one sentence for each cause, and how a lookup of names tells its own. Must never name more of a URL than host and port, nor show what a server wrote.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

use harbor_ipc_proto::link::runner::{EndCause, RemoteEnd};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use rustls::CertificateError;

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The kind of error, where the whole connection is affected.
    pub kind: RemoteEnd,
    /// The sentence.
    pub why: String,
    /// True if the server was reached, and only this request is lost.
    pub broken: bool,
}

impl Trouble {
    /// The whole connection is.
    pub fn of(kind: RemoteEnd, why: impl Into<String>) -> Self {
        Self { kind, why: why.into(), broken: false }
    }

    /// Only one request is.
    pub fn broken(why: impl Into<String>) -> Self {
        Self { kind: RemoteEnd::Unreachable, why: why.into(), broken: true }
    }

    /// Explains an error of `reqwest`; `place` is host and port.
    pub fn from_request(error: &reqwest::Error, place: &str) -> Self {
        let unreachable = |why: String| Self::of(RemoteEnd::Unreachable, why);
        if let Some(found) = find::<Unresolved>(error) {
            return match found {
                Unresolved::Private(_) => Self::of(RemoteEnd::Forbidden, found.to_string()),
                Unresolved::Failed(_) => unreachable(found.to_string()),
            };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return Self::of(RemoteEnd::Tls, of_tls(tls, place));
        }
        let io = find::<io::Error>(error).map(io::Error::kind);
        if error.is_connect() {
            return unreachable(match io {
                Some(ErrorKind::ConnectionRefused) => format!("nothing listens at {place}"),
                Some(ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable) => {
                    format!("{place} cannot be reached; is this machine online?")
                }
                Some(ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => {
                    format!("{place} closed the connection at once")
                }
                _ if error.is_timeout() => format!("{place} does not accept connections"),
                _ => format!("the connection to {place} failed"),
            });
        }
        Self::broken(match io {
            _ if error.is_timeout() => format!("{place} did not answer in time"),
            Some(ErrorKind::InvalidData) => format!("{place} does not speak HTTP"),
            _ => format!(
                "the connection to {place} was lost before the answer came; the server may have done it"
            ),
        })
    }

    /// The end of a connection.
    pub fn end(self) -> EndCause<'static> {
        EndCause::Remote { kind: self.kind, why: self.why.into() }
    }
}

/// The reason why a name led to no address.
#[derive(Debug)]
pub enum Unresolved {
    /// The system knows none.
    Failed(String),
    /// All are forbidden.
    Private(String),
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Failed(why) | Self::Private(why)) = self;
        f.write_str(why)
    }
}

impl Error for Unresolved {}

/// The sentence for an error of HTTP, and what to do. `wait` is how many seconds the server wants to be left alone.
pub fn of_status(status: StatusCode, wait: Option<u32>, place: &str) -> String {
    let again = wait.map_or_else(|| "try again later".into(), |wait| format!("try again in {wait} s"));
    let means = match status.as_u16() {
        429 => format!("it received too many requests; {again}"),
        502..=504 => format!("it is not available right now; {again}"),
        500.. => format!("it has an error of its own; {again}, or tell its operator"),
        _ => return format!("{place} answered HTTP {}", status.as_u16()),
    };
    format!("{place} answered HTTP {}: {means}", status.as_u16())
}

/// The seconds of `Retry-After`. A date in its place is not read: whose clock it is by is not known.
pub fn wait_of(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

fn of_tls(error: &rustls::Error, place: &str) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("the certificate of {place} has expired")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("the certificate of {place} is not valid yet; is this machine's clock right?")
            }
            // A bad signature: somebody who is trusted has the name of who signed it.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "this system does not trust who signed the certificate of {place}; add that authority to the system's \
                 certificates, or set SSL_CERT_FILE and run `harbor shutdown`, so that the next bridge uses it"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("the certificate of {place} is for another host")
            }
            CertificateError::Revoked => format!("the certificate of {place} was revoked"),
            // By its name: the type of this cause belongs to a crate below.
            CertificateError::Other(why) if why.to_string().contains("CaUsedAsEndEntity") => format!(
                "the certificate of {place} is an authority's, not a server's; `openssl req -x509 -addext \
                 basicConstraints=critical,CA:FALSE …` makes one for a server"
            ),
            _ => format!("the certificate of {place} cannot be used for a server"),
        },
        rustls::Error::InvalidMessage(_) => {
            format!("{place} does not speak TLS; does the URL begin with http://?")
        }
        rustls::Error::AlertReceived(_) | rustls::Error::PeerIncompatible(_) => {
            format!("{place} and Harbor have no TLS version or cipher in common")
        }
        _ => format!("TLS with {place} failed"),
    }
}

/// The first cause of that type. An error wrapped in an `io::Error` is not a source by itself.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref::<T>() {
            return Some(found);
        }
        let wrapped = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => inner.source(),
        };
    }
    None
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
