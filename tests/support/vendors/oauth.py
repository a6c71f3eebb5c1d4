"""Vendors that examples/recipes describes: a token endpoint (RFC 6749 4.4, RFC 7523), and a JWT with each request."""

import base64
import hashlib
import hmac
import itertools
import json
import time
import urllib.parse

from common import Refused, only

numbers = itertools.count(1)

# The public half of the key in RFC 7515, appendix A.2.
MODULUS = int.from_bytes(base64.urlsafe_b64decode(
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs"
    "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV"
    "MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ=="),
    "big")
SHA256_PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")  # RFC 8017 9.2


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def signed_rs256(signed, signature):
    size = (MODULUS.bit_length() + 7) // 8
    shown = pow(int.from_bytes(signature, "big"), 65537, MODULUS).to_bytes(size, "big")
    digest = SHA256_PREFIX + hashlib.sha256(signed).digest()
    return shown == b"\x00\x01" + b"\xff" * (size - len(digest) - 3) + b"\x00" + digest


def signed_hs256(secret):
    return lambda signed, signature: hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).digest(), signature)


class TokenCheck:
    """Reads a JWT as a careful vendor does, and takes none twice."""

    def __init__(self, algorithm, verify, longest):
        self.algorithm, self.verify, self.longest, self.seen = algorithm, verify, longest, set()

    def claims(self, token):
        """The header and the claims; raises ValueError saying what is wrong."""
        parts = token.split(".")
        if len(parts) != 3:
            raise ValueError("three parts")
        header, claims = json.loads(decoded(parts[0])), json.loads(decoded(parts[1]))
        if header.get("alg") != self.algorithm or header.get("typ") != "JWT":
            raise ValueError("header")
        if not self.verify(f"{parts[0]}.{parts[1]}".encode(), decoded(parts[2])):
            raise ValueError("signature")
        now = time.time()
        if not isinstance(claims.get("iat"), int) or not isinstance(claims.get("exp"), int):
            raise ValueError("numbers")
        if claims["exp"] < now or claims["iat"] > now + 5 or claims["exp"] - claims["iat"] > self.longest:
            raise ValueError("times")
        if not claims.get("jti") or claims["jti"] in self.seen:
            raise ValueError("jti")
        self.seen.add(claims["jti"])
        return header, claims


def take_message(request):
    document = request.json(Refused("no JSON", 400, {"error": "bad_request"}))
    only(document, {"to", "text", "ref"}, lambda why: Refused(why, 400, {"error": "bad_request"}))
    if not all(isinstance(document.get(name), str) and document[name] for name in ("to", "text", "ref")):
        raise Refused("a member is missing", 400, {"error": "bad_request"})
    request.taken = [document["ref"]]
    number = f"m{next(numbers)}"
    return 201, {}, {"id": number}, number


class TokenEndpoint:
    """Hands out tokens; a text with REVOKE makes it forget them all, once for each such text."""

    def __init__(self, grant):
        self.grant, self.tokens, self.revoked = grant, set(), set()

    def handle(self, request):
        if request.path == "/token":
            form = request.form(Refused("no form", 400, {"error": "invalid_request"}))
            self.grant(request, form)
            token = f"access-{next(numbers)}"
            self.tokens.add(token)
            return 200, {}, {"access_token": token, "token_type": "Bearer", "expires_in": 3600}, ""
        if request.path != "/messages":
            raise Refused("no such path", 404, {"error": "not_found"})
        if b"REVOKE" in request.body and request.body not in self.revoked:
            self.revoked.add(request.body)
            self.tokens.clear()
        if request.header("Authorization").removeprefix("Bearer ") not in self.tokens:
            raise Refused("token", 401, {"error": "invalid_token"})
        return take_message(request)


# With every letter that a form changes and Basic does not.
CLIENT, SECRET = "shop:eu", "right %/+wörd"


def client_credentials(request, form):
    only(form, {"grant_type", "scope"}, lambda why: Refused(why, 400, {"error": "invalid_request"}))
    if form.get("grant_type") != "client_credentials":
        raise Refused("grant", 400, {"error": "unsupported_grant_type"})
    shown = request.basic()
    if shown is None or tuple(map(urllib.parse.unquote_plus, shown)) != (CLIENT, SECRET):
        raise Refused("client", 401, {"error": "invalid_client"}, {"WWW-Authenticate": "Basic"})


assertions = TokenCheck("RS256", signed_rs256, 3600)


def signed_assertion(request, form):
    only(form, {"grant_type", "assertion"}, lambda why: Refused(why, 400, {"error": "invalid_request"}))
    if form.get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer":
        raise Refused("grant", 400, {"error": "unsupported_grant_type"})
    try:
        header, claims = assertions.claims(form.get("assertion", ""))
    except ValueError as wrong:
        raise Refused(str(wrong), 400, {"error": "invalid_grant"}) from None
    audience = f"http://{request.header('Host')}/oauth-assertion/token"
    if header.get("kid") != "k1" or claims.get("iss") != "shop@example.com" or claims.get("aud") != audience:
        raise Refused("claims", 400, {"error": "invalid_grant"})


class SignedRequests:
    def __init__(self):
        self.check = TokenCheck("HS256", signed_hs256(b"right-secret-of-32-bytes-or-more"), 120)

    def handle(self, request):
        if request.path != "/messages":
            raise Refused("no such path", 404, {"error": "not_found"})
        try:
            _, claims = self.check.claims(request.header("Authorization").removeprefix("Bearer "))
        except ValueError as wrong:
            raise Refused(str(wrong), 401, {"error": "invalid_token"}) from None
        if claims.get("iss") != "shop":
            raise Refused("iss", 401, {"error": "invalid_token"})
        return take_message(request)


OAUTH = {"oauth-client": TokenEndpoint(client_credentials), "oauth-assertion": TokenEndpoint(signed_assertion),
         "jwt": SignedRequests()}
