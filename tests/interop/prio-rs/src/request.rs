//! One request is one line: a verb, then `key=value` words. Bytes are hex, empty bytes an empty value.

use std::collections::BTreeMap;
use std::str::FromStr;

/// What cannot be understood, as a sentence for the person who reads the test's output.
pub type Misread = String;

pub struct Request<'a> {
    pub verb: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
}

impl<'a> Request<'a> {
    pub fn parse(line: &'a str) -> Result<Self, Misread> {
        let mut words = line.split_ascii_whitespace();
        let verb = words.next().ok_or("an empty request")?;
        let mut fields = BTreeMap::new();

        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or_else(|| format!("'{word}' is not key=value"))?;
            if fields.insert(key, value).is_some() {
                return Err(format!("'{key}' is given twice"));
            }
        }
        Ok(Self { verb, fields })
    }

    pub fn text(&mut self, key: &str) -> Result<&'a str, Misread> {
        self.fields
            .remove(key)
            .ok_or_else(|| format!("'{key}' is missing"))
    }

    pub fn bytes(&mut self, key: &str) -> Result<Vec<u8>, Misread> {
        hex_decode(self.text(key)?).ok_or_else(|| format!("'{key}' is not hex"))
    }

    pub fn array<const N: usize>(&mut self, key: &str) -> Result<[u8; N], Misread> {
        self.bytes(key)?
            .try_into()
            .map_err(|_| format!("'{key}' is not {N} bytes"))
    }

    pub fn number<T: FromStr>(&mut self, key: &str) -> Result<T, Misread> {
        parse_number(self.text(key)?).map_err(|reason| format!("'{key}': {reason}"))
    }

    pub fn numbers(&mut self, key: &str) -> Result<Vec<u128>, Misread> {
        self.text(key)?
            .split(',')
            .map(|word| parse_number(word).map_err(|reason| format!("'{key}': {reason}")))
            .collect()
    }

    /// A misspelt key would otherwise pass unseen.
    pub fn finish(self) -> Result<(), Misread> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("'{key}' has no meaning here")),
        }
    }
}

fn parse_number<T: FromStr>(word: &str) -> Result<T, Misread> {
    word.parse()
        .map_err(|_| format!("'{word}' is not a number in range"))
}

pub fn hex_encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());

    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)].into());
        text.push(DIGITS[usize::from(byte & 15)].into());
    }
    text
}

fn hex_decode(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks_exact(2);

    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}
