//! Where a player of the GGP protocol listens.

use std::fmt;

/// The port at which players listen by default.
const DEFAULT_PORT: u16 = 9147;

/// Where a player listens: host, port and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A host name or an IP address; IPv6 without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The path; at least `/`.
    pub path: String,
}

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// It has characters that an address cannot have.
    Characters,
    /// The bracket of an IPv6 address is never closed.
    Bracket,
    /// The host is missing.
    NoHost,
    /// This is not a port.
    Port(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::Characters => {
                f.write_str("an address consists of letters, digits and few other characters")
            }
            AddressError::Bracket => f.write_str("the `[` is never closed"),
            AddressError::NoHost => f.write_str("the host is missing"),
            AddressError::Port(port) => {
                write!(f, "`{port}` is not a port: a number from 1 to 65535")
            }
        }
    }
}

impl std::error::Error for AddressError {}

impl Address {
    /// Parses `HOST[:PORT][/PATH]`. The default port is 9147.
    ///
    /// # Errors
    /// [`AddressError`] if the text is not an address.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let (authority, path) = match text.find('/') {
            Some(at) => (&text[..at], &text[at..]),
            None => (text, "/"),
        };
        let is_proper =
            |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '<' | '>' | '@');
        if !text.chars().all(is_proper) {
            return Err(AddressError::Characters);
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or(AddressError::Bracket)?;
                (host, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() {
            return Err(AddressError::NoHost);
        }
        let port = match port {
            None => DEFAULT_PORT,
            Some(port) => match port.parse::<u16>() {
                Ok(port) if port > 0 => port,
                _ => return Err(AddressError::Port(port.to_owned())),
            },
        };
        Ok(Address { host: host.to_owned(), port, path: path.to_owned() })
    }
}
