//! A client and a gateway of Oblivious HTTP. One request is one line: a verb, then `key=value` words; bytes are hex.
//!
//!     ask keys= method= scheme= authority= path= content= framing=   ok request=   (as a client, to somebody's keys)
//!     hear response=                                         ok status= content=    or reject
//!     key                                                    ok keys=               (as a gateway)
//!     open request=                                          ok method= authority= path= content= type=   or reject
//!     answer status= content= framing=                       ok response=

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, Write};

use bhttp::{Message, Mode, StatusCode};
use ohttp::hpke::{Aead, Kdf, Kem};
use ohttp::{ClientRequest, ClientResponse, KeyConfig, Server, ServerResponse, SymmetricSuite};

#[derive(Default)]
struct Peer {
    asked: Option<ClientResponse>,
    server: Option<Server>,
    opened: Option<ServerResponse>,
}

type Fields<'a> = BTreeMap<&'a str, &'a str>;

fn decode(text: &str) -> Result<Vec<u8>, String> {
    (0..text.len())
        .step_by(2)
        .map(|i| {
            text.get(i..i + 2)
                .and_then(|pair| u8::from_str_radix(pair, 16).ok())
                .ok_or_else(|| "not hex".to_string())
        })
        .collect()
}

fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn text<'a>(fields: &Fields<'a>, key: &str) -> Result<&'a str, String> {
    fields.get(key).copied().ok_or_else(|| format!("'{key}' is missing"))
}

fn bytes(fields: &Fields, key: &str) -> Result<Vec<u8>, String> {
    decode(text(fields, key)?)
}

fn write(message: &Message, fields: &Fields) -> Result<Vec<u8>, String> {
    let mode = match text(fields, "framing")? {
        "known" => Mode::KnownLength,
        _ => Mode::IndeterminateLength,
    };
    let mut out = Vec::new();
    message.write_bhttp(mode, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

impl Peer {
    fn ask(&mut self, fields: &Fields) -> Result<String, String> {
        let part = |key| text(fields, key).map(|t| t.as_bytes().to_vec());
        let mut message =
            Message::request(part("method")?, part("scheme")?, part("authority")?, part("path")?);
        message.put_header("content-type", "text/plain");
        message.write_content(bytes(fields, "content")?);
        let client = ClientRequest::from_encoded_config_list(&bytes(fields, "keys")?)
            .map_err(|e| e.to_string())?;
        let (request, response) =
            client.encapsulate(&write(&message, fields)?).map_err(|e| e.to_string())?;
        self.asked = Some(response);
        Ok(format!("ok request={}", encode(&request)))
    }

    fn hear(&mut self, fields: &Fields) -> Result<String, String> {
        let asked = self.asked.take().ok_or("nothing was asked")?;
        let Ok(plain) = asked.decapsulate(&bytes(fields, "response")?) else {
            return Ok("reject".to_string());
        };
        let message = Message::read_bhttp(&mut Cursor::new(&plain[..])).map_err(|e| e.to_string())?;
        let status = message.control().status().ok_or("no response")?.code();
        Ok(format!("ok status={status} content={}", encode(message.content())))
    }

    fn key(&mut self) -> Result<String, String> {
        let suites = vec![SymmetricSuite::new(Kdf::HkdfSha256, Aead::ChaCha20Poly1305),
                          SymmetricSuite::new(Kdf::HkdfSha256, Aead::Aes128Gcm)];
        let config = KeyConfig::new(9, Kem::X25519Sha256, suites).map_err(|e| e.to_string())?;
        let keys = KeyConfig::encode_list(&[&config]).map_err(|e| e.to_string())?;
        self.server = Some(Server::new(config).map_err(|e| e.to_string())?);
        Ok(format!("ok keys={}", encode(&keys)))
    }

    fn open(&mut self, fields: &Fields) -> Result<String, String> {
        let server = self.server.as_ref().ok_or("no key was made")?;
        let Ok((plain, opened)) = server.decapsulate(&bytes(fields, "request")?) else {
            return Ok("reject".to_string());
        };
        let message = Message::read_bhttp(&mut Cursor::new(&plain[..])).map_err(|e| e.to_string())?;
        let word = |part: Option<&[u8]>| String::from_utf8_lossy(part.unwrap_or(b"")).into_owned();
        let control = message.control();
        self.opened = Some(opened);
        Ok(format!(
            "ok method={} authority={} path={} content={} type={}",
            word(control.method()), word(control.authority()), word(control.path()),
            encode(message.content()), word(message.header().get(b"content-type"))
        ))
    }

    fn answer(&mut self, fields: &Fields) -> Result<String, String> {
        let status: u16 = text(fields, "status")?.parse().map_err(|_| "not a status")?;
        let mut message = Message::response(
            StatusCode::try_from(u64::from(status)).map_err(|e| e.to_string())?);
        message.put_header("content-type", "text/plain");
        message.write_content(bytes(fields, "content")?);
        let opened = self.opened.take().ok_or("nothing was opened")?;
        let response =
            opened.encapsulate(&write(&message, fields)?).map_err(|e| e.to_string())?;
        Ok(format!("ok response={}", encode(&response)))
    }

    fn obey(&mut self, line: &str) -> Result<String, String> {
        let mut words = line.split_ascii_whitespace();
        let verb = words.next().ok_or("an empty request")?;
        let fields: Fields = words.filter_map(|word| word.split_once('=')).collect();

        match verb {
            "ask" => self.ask(&fields),
            "hear" => self.hear(&fields),
            "key" => self.key(),
            "open" => self.open(&fields),
            "answer" => self.answer(&fields),
            _ => Err(format!("'{verb}' is no verb")),
        }
    }
}

fn main() -> io::Result<()> {
    let mut peer = Peer::default();

    ohttp::init();
    for line in io::stdin().lock().lines() {
        let answer = peer.obey(&line?).unwrap_or_else(|why| format!("error {why}"));
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}
