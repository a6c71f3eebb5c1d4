"""BizPpurio, NHN Cloud (AlimTalk, SMS), Solapi, NAVER Cloud SENS."""

import base64
import datetime
import hashlib
import hmac
import itertools
import json
import re
import time

from common import Refused, listed, only, size

numbers = itertools.count(1)
DOMESTIC = re.compile(r"0[0-9]{8,10}")
KST = datetime.timezone(datetime.timedelta(hours=9))


def fits(text, most):
    """CP949 bytes; a character that CP949 does not have fits nowhere."""
    try:
        return size(text) <= most
    except UnicodeEncodeError:
        return False


class BizPpurio:
    ACCOUNT, PASSWORD = "acct", "right-password"

    def __init__(self):
        self.tokens, self.reports = {}, {}

    def refuse(self, why, code, status=400):
        return Refused(why, status, {"code": code, "description": why})

    def token(self, request):
        if request.basic() != (self.ACCOUNT, self.PASSWORD):
            raise self.refuse("auth", 3001, 401)
        token = f"token-{next(numbers)}"
        self.tokens[token] = time.time() + 24 * 3600
        end = datetime.datetime.now(KST) + datetime.timedelta(hours=24)
        return 200, {}, {"accesstoken": token, "type": "Bearer", "expired": end.strftime("%Y%m%d%H%M%S")}, ""

    # Results come again until they are confirmed.
    def results(self, request, body):
        if body.get("account") != self.ACCOUNT:
            raise self.refuse("account", 3004)
        if request.path.endswith("/request"):
            return 200, {}, {"code": 1000, "report": list(self.reports.values())[:1000]}, ""
        for confirmed in body["msgid"]:
            self.reports.pop(confirmed["msgid"], None)
        return 200, {}, {"code": 1000}, ""

    def content(self, kind, content):
        if list(content) != [kind]:
            raise self.refuse("content is keyed by type", 2000)
        part = content[kind]
        limits = {"sms": ("message", 90), "lms": ("message", 2000), "mms": ("message", 2000)}
        if kind in limits:
            member, most = limits[kind]
            only(part, {"message"} if kind == "sms" else {"subject", "message", "file"}, lambda why: self.refuse(why, 2000))
            if not part.get(member) or not fits(part[member], most) or not fits(part.get("subject", ""), 64):
                raise self.refuse("size", 2000)
        elif kind == "at":
            only(part, {"senderkey", "templatecode", "message", "title", "button", "quickreply"},
                 lambda why: self.refuse(why, 2000))
            if not part.get("senderkey") or not part.get("templatecode") or not 1 <= len(part.get("message", "")) <= 1000:
                raise self.refuse("alimtalk", 2000)
            if len(part.get("title", "")) > 50 or len(part.get("button", [])) > 5 or len(part.get("quickreply", [])) > 10:
                raise self.refuse("alimtalk", 2000)
        else:
            raise self.refuse("type", 2000)

    def handle(self, request):
        if request.path == "/v1/token":
            return self.token(request)
        if request.path not in ("/v3/message", "/v1/result/request", "/v1/result/confirm"):
            raise self.refuse("unknown URI", 5001)
        token = request.header("Authorization").removeprefix("Bearer ")
        if self.tokens.get(token, 0) < time.time():
            raise self.refuse("token", 3005, 401)
        body = request.json(self.refuse("JSON", 2000))
        if request.path.startswith("/v1/result/"):
            return self.results(request, body)
        only(body, {"account", "refkey", "type", "from", "to", "content", "resend", "recontent", "userinfo",
                    "resellercode"},
             lambda why: self.refuse(why, 2000))
        if body.get("account") != self.ACCOUNT:
            raise self.refuse("account", 3004)
        if not body.get("refkey") or len(body["refkey"]) > 32:
            raise self.refuse("refkey", 2000)
        if len(body.get("userinfo", "")) > 50 or len(body.get("resellercode", "")) > 9:
            raise self.refuse("userinfo, resellercode", 2000)
        for number in ("from", "to"):
            if not DOMESTIC.fullmatch(body.get(number, "")):
                raise self.refuse(number, 2000)
        self.content(body.get("type", ""), body.get("content", {}))
        if ("resend" in body) != ("recontent" in body):
            raise self.refuse("resend without recontent", 2000)
        if "resend" in body:
            self.content(body["resend"]["first"], body["recontent"])
        key = f"mk{next(numbers)}"
        if "REFUSED-LATER" in json.dumps(body, ensure_ascii=False):
            self.reports[f"r{key}"] = {"msgid": f"r{key}", "cmsgid": key, "media": "SMS", "result": "4410",
                                       "refkey": body["refkey"], "userdata": "none"}
        return 200, {}, {"code": 1000, "description": "success", "messagekey": key, "refkey": body["refkey"]}, key


class Nhn:
    SECRET, APPKEY = "right-secret", "appkey1"

    def header(self, code, message="success"):
        return {"resultCode": code, "resultMessage": message, "isSuccessful": code == 0}

    def refuse(self, why, code, status=200):
        return Refused(why, status, {"header": self.header(code, why)})

    def recipients(self, body):
        people = body.get("recipientList")
        if not isinstance(people, list) or not 1 <= len(people) <= 1000:
            raise self.refuse("recipientList", -2000)
        for person in people:
            if not DOMESTIC.fullmatch(person.get("recipientNo", "")):
                raise self.refuse("recipientNo", -2013)
            if len(person.get("recipientGroupingKey", "")) > 100:
                raise self.refuse("recipientGroupingKey", -2000)
        return people

    def results(self, request, people):
        """A number that ends in 000404 has opted out."""
        results = []
        for sequence, person in enumerate(people, 1):
            out = person["recipientNo"].endswith("000404")
            key = person.get("recipientGroupingKey")
            results.append({"recipientSeq": sequence, "recipientNo": person["recipientNo"], "resultCode": -6001 if out else 0,
                            "resultMessage": "opted out" if out else "success", "recipientGroupingKey": key})
            if not out:
                request.taken.append(key)
        return results


class NhnAlimtalk(Nhn):
    def __init__(self):
        self.keys, self.messages = set(), []

    def handle(self, request):
        if request.header("X-Secret-Key") != self.SECRET:
            raise self.refuse("secret", -1001)
        if request.path != f"/alimtalk/v2.3/appkeys/{self.APPKEY}/messages":
            raise self.refuse("appkey", -1000)
        if request.method == "GET":
            wanted = request.query.get("recipientGroupingKey")
            if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", request.query.get("startRequestDate", "")):
                raise self.refuse("startRequestDate", -2000)
            found = [m for m in self.messages if m["recipientGroupingKey"] == wanted]
            return 200, {}, {"header": self.header(0),
                             "messageSearchResultResponse": {"messages": found, "totalCount": len(found)}}, ""
        body = request.json(self.refuse("JSON", -2000, 400))
        only(body, {"senderKey", "templateCode", "requestDate", "senderGroupingKey", "recipientList"},
             lambda why: self.refuse(why, -2000))
        if body.get("senderKey") != "SENDERKEY" or not 1 <= len(body.get("templateCode", "")) <= 20:
            raise self.refuse("senderKey, templateCode", -2001)
        for person in self.recipients(body):
            only(person, {"recipientNo", "templateParameter", "recipientGroupingKey", "resendParameter"},
                 lambda why: self.refuse(why, -2000))
            again = person.get("resendParameter", {"isResend": False})
            if again["isResend"] and (again.get("resendType") not in ("SMS", "LMS") or
                          not fits(again.get("resendContent", ""), 90 if again["resendType"] == "SMS" else 2000) or
                          not fits(again.get("resendTitle", ""), 40) or not DOMESTIC.fullmatch(again.get("resendSendNo", ""))):
                raise self.refuse("resendParameter", -2000)
        key = request.header("X-NC-API-IDEMPOTENCY-KEY")
        if key and key in self.keys:
            raise self.refuse("duplicate key", -1005)
        self.keys.add(key)
        number = f"req{next(numbers)}"
        results = self.results(request, body["recipientList"])
        for result in results:
            if result["resultCode"] == 0:
                self.messages.append({"requestId": number, "recipientSeq": result["recipientSeq"], "resultCode": "1000",
                                      "messageStatus": "COMPLETED", "senderGroupingKey": body.get("senderGroupingKey"),
                                      "recipientGroupingKey": result.get("recipientGroupingKey")})
        return 200, {}, {"header": self.header(0), "message": {"requestId": number, "sendResults": results}}, number


class NhnSms(Nhn):
    def __init__(self):
        self.messages = []

    def list(self, request, kind):
        for name in ("startRequestDate", "endRequestDate"):
            if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", request.query.get(name, "")):
                raise self.refuse(name, -2000)
        found = [m for m in self.messages
                 if m["list"] == kind and m["recipientGroupingKey"] == request.query.get("recipientGroupingKey")]
        return 200, {}, {"header": self.header(0), "body": {"totalCount": len(found), "data": found}}, ""

    def handle(self, request):
        if request.header("X-Secret-Key") != self.SECRET:
            raise self.refuse("secret", -1001)
        base = f"/sms/v3.0/appKeys/{self.APPKEY}/sender/"
        kind = request.path.removeprefix(base)
        if not request.path.startswith(base) or kind not in ("sms", "mms", "ad-sms", "ad-mms"):
            raise self.refuse("appKey", -1000)
        if request.method == "GET":
            return self.list(request, kind)
        body = request.json(self.refuse("JSON", -2000, 400))
        only(body, {"title", "body", "sendNo", "recipientList"}, lambda why: self.refuse(why, -2000))
        if body.get("sendNo") != "0212345678":
            raise self.refuse("sendNo is not registered", -2312)
        long = kind.endswith("mms")
        if not body.get("body") or not fits(body["body"], 2000 if long else 90):
            raise self.refuse("body", -2023)
        if long != ("title" in body) or not fits(body.get("title", ""), 40):
            raise self.refuse("title", -2000)
        if kind.startswith("ad-") and not body["body"].startswith("(광고)"):
            raise self.refuse("no (광고)", -6003)
        people = self.recipients(body)
        number = f"req{next(numbers)}"
        results = self.results(request, people)
        self.messages += [{"list": kind, "requestId": number, "recipientSeq": r["recipientSeq"],
                           "recipientGroupingKey": r["recipientGroupingKey"], "msgStatus": "3", "resultCode": "1000"}
                          for r in results if r["resultCode"] == 0]
        return 200, {}, {"header": self.header(0),
                         "body": {"data": {"requestId": number, "sendResultList": results}}}, number


class Solapi:
    KEY, SECRET = "KEY", "right-secret"

    def __init__(self):
        self.used, self.messages = set(), {}

    def refuse(self, why, status=400, code="ValidationError"):
        return Refused(why, status, {"errorCode": code, "errorMessage": why})

    def authenticate(self, request):
        match = re.fullmatch(r"HMAC-SHA256 apiKey=(\S+), date=(\S+), salt=(\S+), signature=([0-9a-f]{64})",
                             request.header("Authorization"))
        if not match or match[1] != self.KEY:
            raise self.refuse("key", 403, "InvalidAPIKey")
        _, date, salt, signature = match.groups()
        wanted = hmac.new(self.SECRET.encode(), (date + salt).encode(), hashlib.sha256).hexdigest()
        if signature != wanted or not 12 <= len(salt) <= 64:
            raise self.refuse("signature", 403, "SignatureDoesNotMatch")
        age = time.time() - datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()
        if abs(age) > 900:
            raise self.refuse("clock", 403, "RequestTimeTooSkewed")
        if signature in self.used:
            raise self.refuse("again", 403, "DuplicatedSignature")
        self.used.add(signature)

    def fault(self, message):
        """The code with which this message is refused; none when it is fine."""
        only(message, {"to", "from", "text", "type", "subject", "kakaoOptions", "customFields"}, self.refuse)
        if message.get("from") != "0212345678":
            return "1062"
        if not DOMESTIC.fullmatch(message.get("to", "")):
            return "3010"
        limits = {"SMS": 90, "LMS": 2000, "ATA": 100000}
        kind = message.get("type")
        if kind not in limits or not fits(message.get("text", ""), limits[kind]):
            return "1029"
        if kind == "ATA" and not {"pfId", "templateId"} <= set(message.get("kakaoOptions", {})):
            raise self.refuse("kakaoOptions")
        if any(len(key) > 30 or len(value) > 100 for key, value in message.get("customFields", {}).items()):
            raise self.refuse("customFields")
        return ""

    def handle(self, request):
        self.authenticate(request)
        if request.path == "/messages/v4/list" and request.method == "GET":
            found = {key: m for key, m in self.messages.items() if m["to"] == request.query.get("to")}
            return 200, {}, {"messageList": found}, ""
        if request.path != "/messages/v4/send-many/detail":
            raise self.refuse("no such path", 404, "NotFound")
        body = request.json(self.refuse("JSON"))
        only(body, {"messages", "allowDuplicates", "showMessageList", "scheduledDate", "strict"}, self.refuse)
        messages = body.get("messages")
        if not isinstance(messages, list) or not 1 <= len(messages) <= 10000:
            raise self.refuse("messages")
        group, seen, good, bad = f"G{next(numbers)}", set(), [], []
        for message in messages:
            code = self.fault(message)
            if not code and message["to"] in seen and not body.get("allowDuplicates"):
                code = "1026"
            seen.add(message.get("to"))
            number = f"M{next(numbers)}"
            fields = message.get("customFields", {})
            result = {"messageId": number, "statusCode": code or "2000", "statusMessage": code or "ok", "customFields": fields}
            (bad if code else good).append((message.get("text", ""), result))
            if not code:
                self.messages[number] = {**message, "messageId": number, "groupId": group, "statusCode": "2000"}
                request.taken.append(fields.get("message_id"))
        count = {"total": len(messages), "registeredSuccess": len(good), "registeredFailed": len(bad)}
        return 200, {}, {"groupInfo": {"groupId": group, "count": count}, "failedMessageList": listed(bad),
                         "messageList": listed(good)}, group if good else ""


class Sens:
    SERVICE, ACCESS, SECRET = "ncp:sms:kr:1:svc", "ACCESS", "right-secret"

    def refuse(self, why, status=400):
        return Refused(why, status, {"error": {"errorCode": str(status), "message": why}})

    def handle(self, request):
        stamp = request.header("x-ncp-apigw-timestamp")
        text = f"{request.method} {request.full_path}\n{stamp}\n{self.ACCESS}"
        wanted = base64.b64encode(hmac.new(self.SECRET.encode(), text.encode(), hashlib.sha256).digest()).decode()
        if request.header("x-ncp-iam-access-key") != self.ACCESS or request.header("x-ncp-apigw-signature-v2") != wanted:
            raise self.refuse("signature", 401)
        if abs(time.time() * 1000 - int(stamp)) > 300_000:
            raise self.refuse("timestamp", 401)
        if request.path != f"/sms/v2/services/{self.SERVICE}/messages":
            raise self.refuse("service", 404)
        body = request.json(self.refuse("JSON"))
        only(body, {"type", "contentType", "countryCode", "from", "subject", "content", "messages"}, self.refuse)
        if body.get("type") not in ("SMS", "LMS") or body.get("contentType") not in ("COMM", "AD"):
            raise self.refuse("type")
        if not body.get("content") or not fits(body["content"], 90 if body["type"] == "SMS" else 2000):
            raise self.refuse("content")
        if not fits(body.get("subject", ""), 40):
            raise self.refuse("subject")
        people = body.get("messages") or []
        if not 1 <= len(people) <= 100 or not all(DOMESTIC.fullmatch(p.get("to", "")) for p in people):
            raise self.refuse("messages")
        number = f"ssreq-{next(numbers)}"
        return 202, {}, {"requestId": number, "requestTime": "2026-11-29T13:26:09", "statusCode": "202",
                         "statusName": "success"}, number


KOREAN = {"bizppurio": BizPpurio(), "nhn-alimtalk": NhnAlimtalk(), "nhn-sms": NhnSms(), "solapi": Solapi(), "sens": Sens()}
