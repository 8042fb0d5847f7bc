//! Signatures of records, as ggp-base makes them: RSA with SHA-1 over the record with sorted keys.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs1v15::Pkcs1v15Sign;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::{RsaPublicKey, pkcs8};
use serde_json::{Map, Value};
use sha1::{Digest as _, Sha1};

use super::Record;

/// The result of checking the signature of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// The record is not signed.
    Absent,
    /// The record was signed with the key that it contains. This does not prove whose key it is.
    Good,
    /// The signature is not valid; the text says why.
    Bad(String),
}

/// The prefix of a key, which names the way it was made.
const KEY_PREFIX: &str = "0";

/// The prefix of a signature, which names the way it was made.
const SIGNATURE_PREFIX: &str = "A0";

impl Record {
    /// Checks the signature of a record as it was read: a JSON object, or a line of an archive.
    pub fn signature(value: &Value) -> Signature {
        let value = value.get("data").unwrap_or(value);
        let Some(object) = value.as_object() else { return Signature::Absent };
        match (object.get("matchHostPK"), object.get("matchHostSignature")) {
            (None, None) => Signature::Absent,
            (Some(_), None) => Signature::Bad("there is a key, but no signature".to_owned()),
            (None, Some(_)) => Signature::Bad("there is a signature, but no key".to_owned()),
            (Some(key), Some(signature)) => match check(object, key, signature) {
                Ok(()) => Signature::Good,
                Err(why) => Signature::Bad(why.to_owned()),
            },
        }
    }
}

fn check(object: &Map<String, Value>, key: &Value, signature: &Value) -> Result<(), &'static str> {
    let decoded = |value: &Value, prefix: &str| {
        let text = value.as_str()?.strip_prefix(prefix)?;
        STANDARD.decode(text.replace(['\n', '\r', ' '], "")).ok()
    };
    let key = decoded(key, KEY_PREFIX).ok_or("the key is not in the format of keys")?;
    let key: Result<RsaPublicKey, pkcs8::spki::Error> = RsaPublicKey::from_public_key_der(&key);
    let key = key.map_err(|_| "the key is not an RSA key")?;
    let signature = decoded(signature, SIGNATURE_PREFIX)
        .ok_or("the signature is not in the format of signatures")?;
    let mut signed = object.clone();
    signed.remove("matchHostSignature");
    let mut text = String::new();
    canonical(&Value::Object(signed), &mut text);
    let digest = Sha1::digest(text.as_bytes());
    let scheme = Pkcs1v15Sign::new::<Sha1>();
    key.verify(scheme, &digest, &signature).map_err(|_| "the record is not the one that was signed")
}

/// Writes a value with sorted keys, without spaces, and with strings quoted as Java's `org.json`
/// does.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            text.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                quoted(key, text);
                text.push(':');
                canonical(&fields[key], text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                canonical(value, text);
            }
            text.push(']');
        }
        Value::String(string) => quoted(string, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

fn quoted(string: &str, text: &mut String) {
    text.push('"');
    let mut last = ' ';
    for c in string.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '/' if last == '<' => text.push_str("\\/"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            '\0'..' ' | '\u{80}'..'\u{a0}' | '\u{2000}'..'\u{2100}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
        last = c;
    }
    text.push('"');
}
