//! The wire format of protocol buffers, as far as ONNX needs it.
//!
//! A message is a list of fields, each with a number and a value: an integer of variable length,
//! four or eight bytes, or a run of bytes, which is a text, a message or a packed list.

/// Writes a message.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 128 {
            self.0.push(number as u8 | 128);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn number(mut self, field: u32, number: u64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(number);
        self
    }

    pub(crate) fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }

    pub(crate) fn message(self, field: u32, message: Message) -> Message {
        self.bytes(field, &message.0)
    }
}

/// The value of a field.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Value<'b> {
    Number(u64),
    Four([u8; 4]),
    Eight([u8; 8]),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    pub(crate) fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn text(self) -> Option<&'b str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Returns integers: one, or a packed list of them.
    pub(crate) fn integers(self) -> Option<Vec<i64>> {
        match self {
            Value::Number(number) => Some(vec![number as i64]),
            Value::Bytes(mut bytes) => {
                let mut numbers = Vec::new();
                while !bytes.is_empty() {
                    numbers.push(varint(&mut bytes)? as i64);
                }
                Some(numbers)
            }
            Value::Four(_) | Value::Eight(_) => None,
        }
    }

    /// Returns floating point numbers: one, or a packed list of them.
    pub(crate) fn floats(self) -> Option<Vec<f32>> {
        match self {
            Value::Four(bytes) => Some(vec![f32::from_le_bytes(bytes)]),
            Value::Bytes(bytes) => {
                let (chunks, rest) = bytes.as_chunks::<4>();
                rest.is_empty().then(|| chunks.iter().map(|c| f32::from_le_bytes(*c)).collect())
            }
            Value::Number(_) | Value::Eight(_) => None,
        }
    }
}

/// Returns the fields of a message in order, or `None` if the bytes are not a message.
pub(crate) fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Value<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let field = u32::try_from(key >> 3).ok().filter(|&field| field > 0)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => {
                let (eight, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Eight(*eight)
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (run, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                Value::Bytes(run)
            }
            5 => {
                let (four, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Four(*four)
            }
            _ => return None,
        };
        fields.push((field, value));
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << (7 * place);
        if byte < 128 {
            return Some(number);
        }
    }
    None
}
