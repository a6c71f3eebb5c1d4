#!/usr/bin/env python3
"""Does each vendor refuse a deliberately wrong request? selftest.py BASE_URL"""

import base64
import datetime
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = sys.argv[1]


def call(path, body=None, headers=None, form=False, raw=None):
    data = raw if raw is not None else urllib.parse.urlencode(body).encode() if form else json.dumps(body).encode()
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    request = urllib.request.Request(BASE + path, data=data, headers={"Content-Type": kind, **(headers or {})})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def jwt(algorithm, claims):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    now = int(time.time())
    whole = {"iss": "shop", "iat": now, "exp": now + 60, "jti": str(time.time_ns()), **claims}
    text = part(json.dumps({"alg": algorithm, "typ": "JWT"}).encode()) + b"." + part(json.dumps(whole).encode())
    return (text + b"." + part(hmac.new(b"right-secret-of-32-bytes-or-more", text, hashlib.sha256).digest())).decode()


def solapi_headers(age=0):
    date = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age)
    date = date.isoformat().replace("+00:00", "Z")
    salt = hashlib.sha256(str(time.time_ns()).encode()).hexdigest()[:32]
    signature = hmac.new(b"right-secret", (date + salt).encode(), hashlib.sha256).hexdigest()
    return {"Authorization": f"HMAC-SHA256 apiKey=KEY, date={date}, salt={salt}, signature={signature}"}


def sens_headers(path, age=0):
    stamp = str(int((time.time() - age) * 1000))
    text = f"POST {path}\n{stamp}\nACCESS"
    signature = base64.b64encode(hmac.new(b"right-secret", text.encode(), hashlib.sha256).digest()).decode()
    return {"x-ncp-apigw-timestamp": stamp, "x-ncp-iam-access-key": "ACCESS", "x-ncp-apigw-signature-v2": signature}


def again(path, body, headers):
    """The answer to the second of two requests that are the same."""
    call(path, body, headers)
    return call(path, body, headers)


AGENT = {"User-Agent": "DiscordBot (x, 1)"}
SLACK = {"Authorization": "Bearer xoxb-right-token"}
TWILIO = basic("AC00000000000000000000000000000001", "right-token")
MESSAGES = "/twilio/2010-04-01/Accounts/AC00000000000000000000000000000001/Messages.json"
SENS = "/sens/sms/v2/services/ncp:sms:kr:1:svc/messages"
token = json.loads(call("/bizppurio/v1/token", {}, basic("acct", "right-password"))[1])["accesstoken"]
BIZ = {"Authorization": "Bearer " + token}
BIZ_BODY = {"account": "acct", "refkey": "r", "type": "sms", "from": "0212345678", "to": "01012345678",
            "content": {"sms": {"message": "가" * 46}}}
BIZ_AT = {**BIZ_BODY, "type": "at", "content": {"at": {"senderkey": "SENDERKEY", "templatecode": "T", "message": "x"}}}
NHN = {"X-Secret-Key": "right-secret"}
ALIMTALK = "/nhn-alimtalk/alimtalk/v2.3/appkeys/appkey1/messages"
ALIMTALK_BODY = {"senderKey": "SENDERKEY", "templateCode": "T", "recipientList": [{"recipientNo": "01012345678"}]}
BOT = {**AGENT, "Authorization": "Bot right-bot-token"}
ROOM = "/discord-bot/api/v10/channels/123456789012345678/messages"
HOOK = "/discord-webhook/api/webhooks/111/SECRET?wait=true"
CHAT = "/telegram/bot123456:right-token/sendMessage"
NTFY = {"Authorization": "Bearer tk_right-token"}
SENDGRID = {"Authorization": "Bearer SG.right-token"}
GRID = {"from": {"email": "shop@example.com"}, "subject": "s", "content": [{"type": "text/plain", "value": "x"}],
        "personalizations": [{"to": [{"email": "a@example.com"}]}]}
GUN = "/mailgun/v3/mg.example.com/messages"
GUN_FORM = {"from": "shop@example.com", "to": "a@example.com", "text": "x", "h:Message-Id": "<1@mg.example.com>"}
GUN_KEY = basic("api", "right-key")
SENS_BODY = {"type": "LMS", "contentType": "COMM", "from": "0212345678", "content": "x", "messages": [{"to": "01012345678"}]}
SOLAPI = "/solapi/messages/v4/send-many/detail"
SOLAPI_BODY = {"messages": [{"to": "01012345678", "from": "0212345678", "type": "SMS", "text": "x"}]}
POSTMARK = {"X-Postmark-Server-Token": "right-token", "Accept": "application/json"}
MAIL = {"From": "shop@example.com", "To": "a@example.com", "TextBody": "x", "Metadata": {"message_id": "shop-1"}}

# what is wrong, the call, what the answer says
WRONG = [
    ("oauth-client: not encoded", call("/oauth-client/token", {"grant_type": "client_credentials"},
                                       basic("shop:eu", "right %/+wörd"), form=True), 401, "invalid_client"),
    ("oauth-client: grant", call("/oauth-client/token", {"grant_type": "password"}, form=True), 400, "unsupported_grant"),
    ("oauth-client: token", call("/oauth-client/messages", {"to": "a"}, {"Authorization": "Bearer x"}), 401, "invalid_token"),
    ("oauth-assertion: signature", call("/oauth-assertion/token", {
        "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt("RS256", {})}, form=True), 400,
     "invalid_grant"),
    ("jwt: lasts too long", call("/jwt/messages", {"to": "a"}, {"Authorization": "Bearer " + jwt("HS256", {"exp": 10**10})}),
     401, "invalid_token"),
    ("jwt: shape", call("/jwt/messages", {"to": "a", "txt": "x"}, {"Authorization": "Bearer " + jwt("HS256", {})}), 400,
     "bad_request"),
    ("slack-webhook: size", call("/slack-webhook/services/T000/B000/SECRET", {"text": "x" * 40001}), 400, "invalid_payload"),
    ("slack-webhook: shape", call("/slack-webhook/services/T000/B000/SECRET", {"body": "x"}), 400, "invalid_payload"),
    ("slack: no text", call("/slack/api/chat.postMessage", {"channel": "C1"}, SLACK), 200, "no_text"),
    ("slack: token", call("/slack/api/chat.postMessage", {"channel": "C1", "text": "x"}), 200, "invalid_auth"),
    ("discord-webhook: agent", call("/discord-webhook/api/webhooks/111/SECRET?wait=true", {"content": "x"}), 403, "40333"),
    ("discord-webhook: size", call("/discord-webhook/api/webhooks/111/SECRET?wait=true", {"content": "x" * 2001}, AGENT), 400,
     "50035"),
    ("discord-bot: nonce", call("/discord-bot/api/v10/channels/123456789012345678/messages",
                                {"content": "x", "nonce": "n" * 26}, {**AGENT, "Authorization": "Bot right-bot-token"}), 400,
     "50035"),
    ("telegram: size", call("/telegram/bot123456:right-token/sendMessage", {"chat_id": "7", "text": "x" * 4097}), 400,
     "too long"),
    ("ntfy: priority", call("/ntfy/", {"topic": "a", "message": "x", "priority": 9},
                            {"Authorization": "Bearer tk_right-token"}), 400, "40007"),
    ("teams: shape", call("/teams/workflows/SECRET", {"text": "x"}), 400, "Bad payload"),
    ("twilio: number", call(MESSAGES, {"To": "01012345678", "From": "+1", "Body": "x"}, TWILIO, form=True), 400, "21211"),
    ("twilio: JSON", call(MESSAGES, {"To": "+821012345678", "Body": "x"}, TWILIO), 400, "21602"),
    ("vonage: plus", call("/vonage/sms/json", {"api_key": "abcd", "api_secret": "right-secret", "from": "S",
                                               "to": "+821012345678", "text": "x"}, form=True), 200, '"3"'),
    ("sendgrid: shape", call("/sendgrid/v3/mail/send", {"to": "a@example.com"}, {"Authorization": "Bearer SG.right-token"}),
     400, "unknown member"),
    ("mailgun: address", call("/mailgun/v3/mg.example.com/messages", {"to": "nobody"}, basic("api", "right-key"), form=True),
     400, "not a valid address"),
    ("postmark: shape", call("/postmark/email", {"To": "a@example.com"},
                             {"X-Postmark-Server-Token": "right-token", "Accept": "application/json"}), 422, "300"),
    ("bizppurio: size", call("/bizppurio/v3/message", BIZ_BODY, BIZ), 400, "2000"),
    ("bizppurio: refkey", call("/bizppurio/v3/message", {**BIZ_BODY, "refkey": "r" * 33}, BIZ), 400, "2000"),
    ("bizppurio: token", call("/bizppurio/v3/message", BIZ_BODY, {"Authorization": "Bearer old"}), 401, "3005"),
    ("nhn-alimtalk: secret", call("/nhn-alimtalk/alimtalk/v2.3/appkeys/appkey1/messages", {}), 200, "-1001"),
    ("nhn-alimtalk: number", call("/nhn-alimtalk/alimtalk/v2.3/appkeys/appkey1/messages",
                                  {"senderKey": "SENDERKEY", "templateCode": "T", "recipientList": [{"recipientNo": "+82101"}]},
                                  NHN), 200, "-2013"),
    ("nhn-sms: size", call("/nhn-sms/sms/v3.0/appKeys/appkey1/sender/sms",
                           {"body": "가" * 46, "sendNo": "0212345678", "recipientList": [{"recipientNo": "01012345678"}]}, NHN),
     200, "-2023"),
    ("nhn-sms: advertising", call("/nhn-sms/sms/v3.0/appKeys/appkey1/sender/ad-sms",
                                  {"body": "x", "sendNo": "0212345678", "recipientList": [{"recipientNo": "01012345678"}]},
                                  NHN), 200, "-6003"),
    ("solapi: size", call("/solapi/messages/v4/send-many/detail",
                          {"messages": [{"to": "01012345678", "from": "0212345678", "type": "SMS", "text": "가" * 46}]},
                          solapi_headers()), 200, "1029"),
    ("solapi: signature", call("/solapi/messages/v4/send-many/detail", {}), 403, "InvalidAPIKey"),
    ("solapi: twice to one", call("/solapi/messages/v4/send-many/detail",
                                  {"messages": [{"to": "01012345678", "from": "0212345678", "type": "SMS", "text": "x"}] * 2},
                                  solapi_headers()), 200, "1026"),
    ("postmark: no list", call("/postmark/email/batch", {"To": "a@example.com"}, POSTMARK), 422, "402"),
    ("postmark: one of two", call("/postmark/email/batch", [MAIL, {**MAIL, "To": "nobody"}], POSTMARK), 200, "300"),
    ("postmark: too many", call("/postmark/email/batch", [MAIL] * 501, POSTMARK), 422, "410"),
    ("nhn-sms: too many", call("/nhn-sms/sms/v3.0/appKeys/appkey1/sender/sms",
                               {"body": "x", "sendNo": "0212345678", "recipientList": [{"recipientNo": "01012345678"}] * 1001},
                               NHN), 200, "-2000"),
    ("sens: size", call(SENS, {"type": "SMS", "contentType": "COMM", "from": "0212345678", "content": "가" * 46,
                               "messages": [{"to": "01012345678"}]}, sens_headers(SENS)), 400, "content"),
    ("sens: signature", call(SENS, {}, {"x-ncp-apigw-timestamp": "1"}), 401, "signature"),
    ("slack: size", call("/slack/api/chat.postMessage", {"channel": "C1", "text": "x" * 40001}, SLACK), 200, "msg_too_long"),
    ("discord-bot: size", call(ROOM, {"content": "x" * 2001}, BOT), 400, "50035"),
    ("discord-bot: empty", call(ROOM, {"content": ""}, BOT), 400, "50006"),
    ("discord-bot: shape", call(ROOM, {"content": "x", "text": "x"}, BOT), 400, "50035"),
    ("discord-webhook: shape", call(HOOK, {"content": "x", "text": "x"}, AGENT), 400, "50035"),
    ("discord-webhook: empty", call(HOOK, {"content": ""}, AGENT), 400, "50006"),
    ("telegram: shape", call(CHAT, {"chat_id": "7", "text": "x", "body": "x"}), 400, "unknown member"),
    ("telegram: empty", call(CHAT, {"chat_id": "7", "text": ""}), 400, "text is empty"),
    ("ntfy: size", call("/ntfy/", {"topic": "a", "message": "x" * 4097}, NTFY), 413, "41301"),
    ("ntfy: topic", call("/ntfy/", {"topic": "a/b", "message": "x"}, NTFY), 400, "40009"),
    ("teams: size", call("/teams/workflows/SECRET", {"type": "message", "attachments": ["x" * 28 * 1024]}), 413, ""),
    ("twilio: size", call(MESSAGES, {"To": "+821012345678", "From": "+1", "Body": "x" * 1601}, TWILIO, form=True), 400, "21617"),
    ("vonage: client-ref", call("/vonage/sms/json", {"api_key": "abcd", "api_secret": "right-secret", "from": "S",
                                                     "to": "821012345678", "text": "x", "client-ref": "r" * 101}, form=True),
     200, '"3"'),
    ("sendgrid: size", call("/sendgrid/v3/mail/send", {**GRID, "subject": "x" * 30 * 1024 * 1024}, SENDGRID), 413, "30 MB"),
    ("sendgrid: recipients", call("/sendgrid/v3/mail/send", {**GRID, "personalizations": GRID["personalizations"] * 1001},
                                  SENDGRID), 400, "1000 recipients"),
    ("mailgun: size", call(GUN, {**GUN_FORM, "text": "x" * 25 * 1024 * 1024}, GUN_KEY, form=True), 413, ""),
    ("mailgun: variables", call(GUN, {**GUN_FORM, "v:message_id": "x" * 16 * 1024}, GUN_KEY, form=True), 400, "16 kB"),
    ("mailgun: recipients", call(GUN, {**GUN_FORM, "to": ",".join(["a@example.com"] * 1001)}, GUN_KEY, form=True), 400,
     "1000 recipients"),
    ("bizppurio: fallback's size", call("/bizppurio/v3/message", {**BIZ_AT, "resend": {"first": "lms"},
                                                                  "recontent": {"lms": {"message": "가" * 1001}}}, BIZ), 400,
     "2000"),
    ("bizppurio: buttons", call("/bizppurio/v3/message", {**BIZ_AT, "content": {"at": {
        **BIZ_AT["content"]["at"], "button": [{}] * 6}}}, BIZ), 400, "2000"),
    ("nhn-alimtalk: template", call(ALIMTALK, {**ALIMTALK_BODY, "templateCode": "T" * 21}, NHN), 200, "-2001"),
    ("nhn-alimtalk: too many", call(ALIMTALK, {**ALIMTALK_BODY, "recipientList": [{"recipientNo": "01012345678"}] * 1001}, NHN),
     200, "-2000"),
    ("nhn-alimtalk: fallback's size", call(ALIMTALK, {**ALIMTALK_BODY, "recipientList": [{
        "recipientNo": "01012345678", "resendParameter": {"isResend": True, "resendType": "LMS", "resendSendNo": "0212345678",
                                                          "resendContent": "x" * 2001}}]}, NHN), 200, "-2000"),
    ("nhn-alimtalk: same key", again(ALIMTALK, ALIMTALK_BODY, {**NHN, "X-NC-API-IDEMPOTENCY-KEY": "k"}), 200, "-1005"),
    ("solapi: clock", call(SOLAPI, SOLAPI_BODY, solapi_headers(age=901)), 403, "RequestTimeTooSkewed"),
    ("solapi: same signature", again(SOLAPI, SOLAPI_BODY, solapi_headers()), 403, "DuplicatedSignature"),
    ("sens: shape", call(SENS, {**SENS_BODY, "text": "x"}, sens_headers(SENS)), 400, "unknown member"),
    ("sens: subject", call(SENS, {**SENS_BODY, "subject": "가" * 21}, sens_headers(SENS)), 400, "subject"),
    ("sens: clock", call(SENS, SENS_BODY, sens_headers(SENS, age=301)), 401, "timestamp"),
]

failed = 0
for what, (status, body), wanted, part in WRONG:
    if status != wanted or part not in body:
        print(f"{what}: {status} {body}, and not {wanted} {part}")
        failed = 1
print(f"{len(WRONG)} wrong requests")
sys.exit(failed)
