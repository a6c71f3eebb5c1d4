"""Twilio and Vonage."""

import itertools
import re

from common import Refused, only

numbers = itertools.count(1)


class Twilio:
    ACCOUNT, TOKEN = "AC00000000000000000000000000000001", "right-token"

    def __init__(self):
        self.messages = {}

    def refuse(self, why, status, code):
        return Refused(why, status, {"code": code, "message": why, "status": status})

    def handle(self, request):
        base = f"/2010-04-01/Accounts/{self.ACCOUNT}/Messages"
        if request.basic() != (self.ACCOUNT, self.TOKEN):
            raise self.refuse("Authenticate", 401, 20003)
        if request.method == "GET" and request.path.startswith(base + "/"):
            sid = request.path[len(base) + 1:].removesuffix(".json")
            if sid not in self.messages:
                raise self.refuse("not found", 404, 20404)
            return 200, {}, self.messages[sid], ""
        if request.path != base + ".json":
            raise self.refuse("not found", 404, 20404)
        form = request.form(self.refuse("no form", 400, 21602))
        only(form, {"To", "From", "MessagingServiceSid", "Body", "StatusCallback"},
             lambda why: self.refuse(why, 400, 20001))
        if not re.fullmatch(r"\+[1-9][0-9]{6,14}", form.get("To", "")):
            raise self.refuse("invalid To", 400, 21211)
        if not form.get("Body"):
            raise self.refuse("no body", 400, 21602)
        if len(form["Body"]) > 1600:
            raise self.refuse("too long", 400, 21617)
        if not form.get("From") and not form.get("MessagingServiceSid"):
            raise self.refuse("no From", 400, 21603)
        sid = f"SM{next(numbers):032d}"
        self.messages[sid] = {"sid": sid, "status": "queued", "error_code": None}
        return 201, {}, self.messages[sid], sid


class Vonage:
    KEY, SECRET = "abcd", "right-secret"

    def refuse(self, why, status):
        return Refused(why, 200, {"message-count": "1", "messages": [{"status": str(status), "error-text": why}]})

    def handle(self, request):
        if request.path != "/sms/json":
            raise Refused("no such path", 404, "")
        form = request.form(self.refuse("missing params", 2))
        if form.get("api_key") != self.KEY or form.get("api_secret") != self.SECRET:
            raise self.refuse("Bad Credentials", 4)
        only(form, {"api_key", "api_secret", "from", "to", "text", "type", "client-ref", "callback"},
             lambda why: self.refuse(why, 3))
        if not re.fullmatch(r"[1-9][0-9]{6,14}", form.get("to", "")):
            raise self.refuse("Invalid to", 3)
        if not form.get("text") or not form.get("from"):
            raise self.refuse("missing params", 2)
        if any(ord(c) > 0xFF for c in form["text"]) and form.get("type") != "unicode":
            raise self.refuse("text needs type=unicode", 3)
        if len(form.get("client-ref", "")) > 100:
            raise self.refuse("client-ref", 3)
        number = f"0C{next(numbers)}"
        return 200, {}, {"message-count": "1",
                         "messages": [{"to": form["to"], "message-id": number, "status": "0"}]}, number


SMS = {"twilio": Twilio(), "vonage": Vonage()}
