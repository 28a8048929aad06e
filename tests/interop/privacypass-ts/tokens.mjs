// tokens.mjs PROGRAM: tokens of type 2, exchanged with @cloudflare/privacypass-ts in both directions.
//
// PROGRAM (interop_tokens.c) is sotto's side: one step a call, arguments and answer in hex. Each direction ends with a token that
// both sides verify, and with damaged ones that both refuse.
import { execFileSync } from 'node:child_process';
import { publicVerif, TokenChallenge, Token } from '@cloudflare/privacypass-ts';

const program = process.argv[2];
const { BLIND_RSA, BlindRSAMode, Client, Issuer, Origin, TokenRequest, TokenResponse, getPublicKeyBytes } = publicVerif;
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const bytes = (text) => new Uint8Array(Buffer.from(text, 'hex'));
const sotto = (...args) => execFileSync(program, args, { encoding: 'utf8' }).trim();
let failures = 0;

function check(holds, what) {
    console.log(`${holds ? 'passed' : 'FAILED'}  ${what}`);
    if (!holds)
        failures++;
}

function damaged(token) {
    const copy = Uint8Array.from(token);
    copy[200] ^= 1;
    return copy;
}

async function theyRefuse(origin, token, key) {
    try {
        return !(await origin.verify(Token.deserialize(BLIND_RSA, token), key));
    } catch {
        return true;
    }
}

const origin = new Origin(BlindRSAMode.PSS, ['leader.example']);
for (const context of [new Uint8Array(0), crypto.getRandomValues(new Uint8Array(32))]) {
    const named = `with a context of ${context.length} bytes`;
    const challenge = origin.createTokenChallenge('issuer.example', context);
    const wire = hex(challenge.serialize());
    const other = hex(origin.createTokenChallenge('other.example', context).serialize());

    // Their client, our issuer.
    const [secret, spki] = sotto('key').split('\n');
    const client = new Client(BlindRSAMode.PSS);
    const request = await client.createTokenRequest(challenge, bytes(spki));
    const response = sotto('issue', secret, hex(request.serialize()));
    const token = (await client.finalize(TokenResponse.deserialize(bytes(response)))).serialize();
    check(sotto('verify', spki, wire, hex(token)) === 'ok', `their client, our issuer, ${named}`);
    check(sotto('verify', spki, wire, hex(damaged(token))) === 'rejected', `we refuse a damaged token, ${named}`);
    check(sotto('verify', spki, other, hex(token)) === 'rejected', `we refuse another challenge, ${named}`);

    // Our client, their issuer.
    const pair = await Issuer.generateKey(BlindRSAMode.PSS, {
        modulusLength: 2048, publicExponent: Uint8Array.from([1, 0, 1]) });
    const issuer = new Issuer(BlindRSAMode.PSS, 'issuer.example', pair.privateKey, pair.publicKey);
    const theirs = hex(await getPublicKeyBytes(pair.publicKey));
    const [random, asked] = sotto('request', theirs, wire).split('\n');
    const answer = await issuer.issue(TokenRequest.deserialize(BLIND_RSA, bytes(asked)));
    const ours = bytes(sotto('finish', theirs, wire, random, hex(answer.serialize())));
    check(await origin.verify(Token.deserialize(BLIND_RSA, ours), pair.publicKey), `our client, their issuer, ${named}`);
    check(await theyRefuse(origin, damaged(ours), pair.publicKey), `they refuse a damaged token, ${named}`);
    check(hex(TokenChallenge.deserialize(bytes(wire)).serialize()) === wire, `a challenge is read alike, ${named}`);
}
process.exit(failures === 0 ? 0 : 1);
