#!/usr/bin/env python3
"""Does the stub refuse what the vendor forbids?  wrong_requests.py apns|fcm|ses|webpush PORT CA KEY

KEY is the PEM file of the key that signs: Apple's, the service account's, or VAPID's (SES has none). Each request is right but
for one thing; one that is altogether right shows that it is this thing that was refused. The names are those of the tests.
"""

import base64
import datetime
import hashlib
import hmac
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

VENDOR, PORT, CA = sys.argv[1:4]
KEY = sys.argv[4] if len(sys.argv) > 4 else ""
HOST = f"127.0.0.1:{PORT}"
NOW = int(time.time())
DIRECTORY = tempfile.TemporaryDirectory()


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def openssl(*words, data=b""):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout


def new_key(*words):
    file = os.path.join(DIRECTORY.name, "other.pem")
    openssl("genpkey", *words, "-out", file)
    return file


def raw_signature(der):
    """r and s as 32 bytes each, of a DER signature."""
    size = der[3]
    r, s = der[4:4 + size], der[6 + size:]
    return b"".join(number.lstrip(b"\0").rjust(32, b"\0") for number in (r, s))


def jwt(header, claims, key=None):
    text = b64(json.dumps(header).encode()) + "." + b64(json.dumps(claims).encode())
    signature = openssl("dgst", "-sha256", "-sign", key or KEY, data=text.encode())
    return text + "." + b64(raw_signature(signature) if header["alg"] == "ES256" else signature)


def call(path, headers, body, method="POST", version="--http2"):
    words = ["curl", "-s", "--cacert", CA, version, "-X", method, "-w", "\n%{http_code}", "--data-binary", "@-"]
    for name, value in headers.items():
        if value is not None:
            words += ["-H", f"{name}: {value}"]
    body = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    answer = subprocess.run([*words, f"https://{HOST}{path}"], input=body, capture_output=True).stdout
    text, _, status = answer.decode(errors="replace").rpartition("\n")
    return int(status), text


# --- Apple

APNS_TOKEN = jwt({"alg": "ES256", "kid": "ABC123DEFG"}, {"iss": "DEF123GHIJ", "iat": NOW}) if VENDOR == "apns" else ""
ALERT = {"aps": {"alert": {"body": "x"}}}


def alert_of(size):
    return json.dumps({"aps": {"alert": "x" * (size - len('{"aps": {"alert": ""}}'))}})


def apns(headers=None, body=ALERT, device="0aaa01", path=None, **how):
    right = {"authorization": "bearer " + APNS_TOKEN, "apns-topic": "com.example.shop", "apns-push-type": "alert",
             "apns-priority": "10", "apns-id": "00000000-0000-4000-8000-000000000001", "apns-collapse-id": "x" * 64,
             "apns-expiration": "0", "content-type": "application/json"}
    return call(path or f"/3/device/{device}", {**right, **(headers or {})}, body, **how)


def apns_token(kid="ABC123DEFG", team="DEF123GHIJ", iat=NOW, key=None):
    return {"authorization": "bearer " + jwt({"alg": "ES256", "kid": kid}, {"iss": team, "iat": iat}, key)}


def apns_rows():
    # Before the right one: a connection that has seen a token takes no other one for 20 minutes.
    yield "no token", apns({"authorization": None}), 403, "MissingProviderToken"
    yield "key id", apns(apns_token(kid="OTHERKEYID")), 403, "InvalidProviderToken"
    yield "team", apns(apns_token(team="OTHERTEAM1")), 403, "InvalidProviderToken"
    other = new_key("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    yield "signature", apns(apns_token(key=other)), 403, "InvalidProviderToken"
    yield "a token of two hours", apns(apns_token(iat=NOW - 7200)), 403, "ExpiredProviderToken"
    yield "a token of tomorrow", apns(apns_token(iat=NOW + 86400)), 403, "InvalidProviderToken"
    yield "right", apns(), 200, ""
    yield "a second token at once", apns(apns_token(iat=NOW + 1)), 429, "TooManyProviderTokenUpdates"
    yield "no topic", apns({"apns-topic": None}), 400, "MissingTopic"
    yield "another topic", apns({"apns-topic": "com.example.other"}), 400, "TopicDisallowed"
    yield "push type", apns({"apns-push-type": "loud"}), 400, "InvalidPushType"
    yield "background, urgent", apns({"apns-push-type": "background"}), 400, "BadPriority"
    yield "background", apns({"apns-push-type": "background", "apns-priority": "5"}), 200, ""
    yield "priority", apns({"apns-priority": "7"}), 400, "BadPriority"
    yield "collapse id of 65 bytes", apns({"apns-collapse-id": "x" * 65}), 400, "BadCollapseId"
    yield "expiration", apns({"apns-expiration": "soon"}), 400, "BadExpirationDate"
    yield "id", apns({"apns-id": "1"}), 400, "BadMessageId"
    yield "4096 bytes", apns(body=alert_of(4096)), 200, ""
    yield "4097 bytes", apns(body=alert_of(4097)), 413, "PayloadTooLarge"
    yield "voip, 5120 bytes", apns({"apns-push-type": "voip"}, alert_of(5120)), 200, ""
    yield "voip, 5121 bytes", apns({"apns-push-type": "voip"}, alert_of(5121)), 413, "PayloadTooLarge"
    yield "no aps", apns(body={}), 400, "PayloadEmpty"
    yield "HTTP/1.1", apns(version="--http1.1"), 400, "BadRequest"
    yield "GET", apns(method="GET"), 405, "MethodNotAllowed"
    yield "path", apns(path="/4/device/0aaa01"), 404, "BadPath"
    yield "no hexadecimal digits", apns(device="xyz"), 400, "BadDeviceToken"
    yield "a device that is gone", apns(device="dead01"), 410, "timestamp"


# --- Google

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def fcm_token(grant=GRANT, key=None, algorithm="RS256", **claims):
    whole = {"iss": "push@shop.test", "scope": "https://www.googleapis.com/auth/firebase.messaging",
             "aud": f"https://{HOST}/token", "iat": NOW, "exp": NOW + 3600, **claims}
    assertion = jwt({"alg": algorithm, "typ": "JWT"}, whole, key)
    body = urllib.parse.urlencode({"grant_type": grant, "assertion": assertion})
    return call("/token", {"content-type": "application/x-www-form-urlencoded"}, body)


def fcm(message, bearer, path="/v1/projects/shop/messages:send", **how):
    headers = {"authorization": "Bearer " + bearer, "content-type": "application/json"}
    return call(path, headers, {"message": message}, **how)


def fcm_rows():
    yield "grant", fcm_token(grant="password"), 400, "jwt-bearer"
    yield "scope", fcm_token(scope="https://www.googleapis.com/auth/cloud-platform"), 400, "Invalid scope"
    yield "audience", fcm_token(aud="https://example.com/"), 400, "Invalid audience"
    yield "issuer", fcm_token(iss="else@shop.test"), 400, "Invalid issuer"
    yield "lifetime", fcm_token(exp=NOW + 2 * 3600), 400, "unreasonable lifetime"
    yield "an old one", fcm_token(iat=NOW - 7200, exp=NOW - 3600), 400, "unreasonable lifetime"
    other = new_key("-algorithm", "RSA")
    yield "signature", fcm_token(key=other), 400, "Signature"
    given = fcm_token()
    yield "right assertion", given, 200, "access_token"
    bearer = json.loads(given[1])["access_token"]
    to = {"token": "0aaa:1"}
    note = {"notification": {"body": "x"}}
    yield "right", fcm({**to, **note, "data": {"n": "1"}}, bearer), 200, "projects/"
    yield "access token", fcm(to, "ya29.wrong"), 401, "UNAUTHENTICATED"
    yield "two targets", fcm({**to, "topic": "news", **note}, bearer), 400, "INVALID_ARGUMENT"
    yield "no target", fcm(note, bearer), 400, "INVALID_ARGUMENT"
    yield "data that is no string", fcm({**to, "data": {"n": 1}}, bearer), 400, "INVALID_ARGUMENT"
    yield "data that is no object", fcm({**to, "data": ["1"]}, bearer), 400, "INVALID_ARGUMENT"
    for name in ("from", "message_type", "google.x", "gcm.x"):
        yield f"data named {name}", fcm({**to, "data": {name: "1"}}, bearer), 400, "INVALID_ARGUMENT"
    room = 4096 - len('{"body":""}')
    yield "4096 bytes", fcm({**to, "notification": {"body": "x" * room}}, bearer), 200, "projects/"
    yield "4097 bytes", fcm({**to, "notification": {"body": "x" * (room + 1)}}, bearer), 400, "INVALID_ARGUMENT"
    yield "another project", fcm(to, bearer, path="/v1/projects/other/messages:send"), 404, "404"
    yield "GET", fcm(to, bearer, method="GET"), 405, "METHOD_NOT_ALLOWED"
    yield "a device that is gone", fcm({"token": "dead:1"}, bearer), 404, "UNREGISTERED"
    yield "another project's device", fcm({"token": "alien:1"}, bearer), 403, "SENDER_ID_MISMATCH"


# --- Amazon

SES_PATH = "/v2/email/outbound-emails"


def text(data, charset="UTF-8"):
    return {"Data": data, "Charset": charset}


def ses_mail(to=("kim@example.com",), subject=text("s"), body=None, sender="shop@example.com", tag="m-1", **more):
    return {"FromEmailAddress": sender, "Destination": {"ToAddresses": list(to)}, "EmailTags": [{"Name": "id", "Value": tag}],
            "Content": {"Simple": {"Subject": subject, "Body": body if body is not None else {"Text": text("b")}}}, **more}


def ses(mail, secret="right-secret", region="ap-northeast-2", minutes=0, signed=("content-type", "host", "x-amz-date"),
        sent=None, path=SES_PATH, **how):
    body = json.dumps(mail)
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
    date = at.strftime("%Y%m%dT%H%M%SZ")
    headers = {"content-type": "application/json", "host": HOST, "x-amz-date": date}
    names = ";".join(signed)
    lines = "".join(f"{name}:{headers[name]}\n" for name in signed)
    canonical = f"POST\n{SES_PATH}\n\n{lines}\n{names}\n{hashlib.sha256(body.encode()).hexdigest()}"
    scope = f"{date[:8]}/{region}/ses/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + secret).encode()
    for step in scope.split("/"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/{scope}, SignedHeaders={names}, "
                                f"Signature={signature}")
    return call(path, headers, sent if sent is not None else body, version="--http1.1", **how)


def ses_rows():
    yield "right", ses(ses_mail()), 200, "MessageId"
    yield "secret", ses(ses_mail(), secret="wrong"), 403, "does not match"
    yield "region", ses(ses_mail(), region="us-east-1"), 403, "invalid"
    yield "a clock of six minutes ago", ses(ses_mail(), minutes=-6), 403, "expired"
    yield "host is not signed", ses(ses_mail(), signed=("content-type", "x-amz-date")), 403, "host is not signed"
    yield "the body is another one", ses(ses_mail(), sent=json.dumps(ses_mail(subject=text("t")))), 403, "does not match"
    yield "a sender that is not verified", ses(ses_mail(sender="other@example.com")), 400, "not verified"
    yield "two recipients", ses(ses_mail(to=("a@example.com", "b@example.com"))), 400, "Missing final"
    yield "no recipient", ses(ses_mail(to=())), 400, "Missing final"
    yield "no address", ses(ses_mail(to=("kim",))), 400, "Missing final"
    yield "unknown member", ses(ses_mail(Subject="s")), 400, "unknown member"
    yield "no subject", ses(ses_mail(subject=text(""))), 400, "Subject"
    yield "character set", ses(ses_mail(subject=text("s", "EUC-KR"))), 400, "Subject"
    yield "no body", ses(ses_mail(body={})), 400, "Body"
    yield "a body of another kind", ses(ses_mail(body={"Rtf": text("b")})), 400, "Body"
    yield "a tag with a blank", ses(ses_mail(tag="m 1")), 400, "EmailTags"
    yield "no JSON", ses("x"), 400, "no JSON object"
    yield "GET", ses(ses_mail(), method="GET"), 405, "no such operation"
    yield "path", ses(ses_mail(), path="/v2/email/identities"), 404, "no such operation"


# --- browsers

VAPID_POINT = openssl("ec", "-in", KEY, "-pubout", "-outform", "DER")[-65:] if VENDOR == "webpush" else b""


def vapid(key=None, point=None, **claims):
    whole = {"aud": f"https://{HOST}", "exp": NOW + 3600, "sub": "mailto:push@example.com", **claims}
    token = jwt({"typ": "JWT", "alg": "ES256"}, {name: value for name, value in whole.items() if value is not None}, key)
    return {"authorization": f"vapid t={token}, k={b64(point or VAPID_POINT)}"}


def webpush(headers=None, body=b"x", path="/push/kim", **how):
    right = {**vapid(), "ttl": "60", "content-encoding": "aes128gcm", "urgency": "normal", "topic": "x" * 32,
             "content-type": "application/octet-stream"}
    return call(path, {**right, **(headers or {})}, body, **how)


def webpush_rows():
    # What is right but for its content: only who knows the browser's secret can go further.
    readable = "not for this subscription"
    yield "right but for the content", webpush(), 400, readable
    yield "no VAPID", webpush({"authorization": None}), 401, "VAPID"
    yield "another audience", webpush(vapid(aud="https://example.com")), 403, "aud"
    yield "an audience with a path", webpush(vapid(aud=f"https://{HOST}/push")), 403, "aud"
    yield "more than a day", webpush(vapid(exp=NOW + 25 * 3600)), 403, "exp"
    yield "over", webpush(vapid(exp=NOW - 60)), 403, "exp"
    yield "nobody to write to", webpush(vapid(sub=None)), 403, "sub"
    other = new_key("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    yield "the key does not fit", webpush(vapid(key=other)), 403, "signature"
    yield "no key", webpush(vapid(point=b"x" * 64)), 403, "no key"
    yield "no TTL", webpush({"ttl": None}), 400, "TTL"
    yield "29 days", webpush({"ttl": str(29 * 86400)}), 400, "TTL"
    yield "content encoding", webpush({"content-encoding": "aesgcm"}), 415, "Content-Encoding"
    yield "urgency", webpush({"urgency": "asap"}), 400, "Urgency"
    yield "topic of 33 characters", webpush({"topic": "x" * 33}), 400, "Topic"
    yield "topic", webpush({"topic": "a b"}), 400, "Topic"
    yield "4096 bytes", webpush(body=b"x" * 4096), 400, readable
    yield "4097 bytes", webpush(body=b"x" * 4097), 413, "too large"
    yield "GET", webpush(method="GET"), 405, "POST"
    yield "path", webpush(path="/elsewhere"), 404, "no such subscription"
    yield "a browser that is gone", webpush(path="/push/gone-lee"), 410, "unsubscribed"


failed = 0
for what, (status, answer), wanted, says in globals()[VENDOR + "_rows"]():
    if status != wanted or says not in answer:
        failed += 1
        print(f"{VENDOR}, {what}: {status} {answer[:200]!r}, wanted {wanted} with {says!r}")
sys.exit(1 if failed else 0)
