"""SendGrid, Mailgun, Postmark."""

import itertools

from common import Refused, listed, only

numbers = itertools.count(1)


class SendGrid:
    TOKEN = "SG.right-token"

    def refuse(self, why, status=400):
        return Refused(why, status, {"errors": [{"message": why}]})

    def handle(self, request):
        if request.header("Authorization") != "Bearer " + self.TOKEN:
            raise self.refuse("authorization required", 401)
        if request.path != "/v3/mail/send":
            raise self.refuse("not found", 404)
        if len(request.body) > 30 * 1024 * 1024:
            raise self.refuse("The content length is larger than 30 MB", 413)
        body = request.json(self.refuse("Bad Request"))
        only(body, {"personalizations", "from", "subject", "content", "custom_args"}, self.refuse)
        people = body.get("personalizations") or []
        if not 1 <= len(people) <= 1000 or sum(len(p.get("to", [])) for p in people) > 1000:
            raise self.refuse("personalizations: at most 1000 recipients")
        if len(people) != 1 or "@" not in people[0].get("to", [{}])[0].get("email", ""):
            raise self.refuse("personalizations")
        if "@" not in body.get("from", {}).get("email", "") or not body.get("subject"):
            raise self.refuse("from and subject are required")
        content = body.get("content") or []
        types = [part.get("type") for part in content]
        if not types or types != sorted(types, reverse=True) or not all(part.get("value") for part in content):
            raise self.refuse("content: text/plain first, no part empty")
        if not all(isinstance(value, str) for value in body.get("custom_args", {}).values()):
            raise self.refuse("custom_args must be strings")
        number = f"xm{next(numbers)}"
        return 202, {"X-Message-Id": number}, "", number


class Mailgun:
    KEY, DOMAIN = "right-key", "mg.example.com"

    def __init__(self):
        self.events = []

    def refuse(self, why, status=400):
        return Refused(why, status, {"message": why})

    def handle(self, request):
        if request.basic() != ("api", self.KEY):
            raise Refused("Forbidden", 401, "Forbidden")
        if request.path == f"/v3/{self.DOMAIN}/events":
            wanted = request.query.get("message-id")
            if "begin" in request.query and not {"end", "ascending"} & set(request.query):
                raise self.refuse("ascending is needed without end")
            return 200, {}, {"items": [event for event in self.events
                                       if event["message"]["headers"]["message-id"] == wanted]}, ""
        if request.path != f"/v3/{self.DOMAIN}/messages":
            raise self.refuse("Domain not found", 404)
        if len(request.body) > 25 * 1024 * 1024:
            raise self.refuse("Request Entity Too Large", 413)
        form = request.form(self.refuse("no form"))
        only(form, {"from", "to", "subject", "text", "html", "h:Message-Id", "v:message_id"}, self.refuse)
        if sum(len(name) + len(value) for name, value in form.items() if name[:2] in ("o:", "h:", "v:", "t:")) > 16 * 1024:
            raise self.refuse("o:, h:, v: and t: parameters are limited to 16 kB in total")
        if len(form.get("to", "").split(",")) > 1000:
            raise self.refuse("to parameter has more than 1000 recipients")
        if "@" not in form.get("to", ""):
            raise self.refuse("to parameter is not a valid address")
        if not form.get("from") or not (form.get("text") or form.get("html")):
            raise self.refuse("from, and text or html, are required")
        message_id = form.get("h:Message-Id", "")
        if not (message_id.startswith("<") and message_id.endswith(">")):
            raise self.refuse("h:Message-Id")
        self.events.append({"event": "accepted", "message": {"headers": {"message-id": message_id[1:-1]}}})
        next(numbers)
        return 200, {}, {"id": message_id, "message": "Queued. Thank you."}, message_id


class Postmark:
    TOKEN = "right-token"

    def refuse(self, why, code, status=422):
        return Refused(why, status, {"ErrorCode": code, "Message": why})

    def take(self, message, request):
        only(message, {"From", "To", "Subject", "TextBody", "HtmlBody", "MessageStream", "Metadata"},
             lambda why: self.refuse(why, 403))
        if "@" not in message.get("To", "") or not (message.get("TextBody") or message.get("HtmlBody")):
            raise self.refuse("Invalid email request", 300)
        if "@" not in message.get("From", ""):
            raise self.refuse("Sender signature not found", 400)
        if message["To"].startswith("inactive"):
            raise self.refuse("Inactive recipient", 406)
        request.taken.append(message["Metadata"]["message_id"])
        return {"ErrorCode": 0, "Message": "OK", "MessageID": f"pm-{next(numbers)}", "To": message["To"]}

    def result(self, message, request):
        try:
            return self.take(message, request)
        except Refused as refusal:
            return refusal.body

    def handle(self, request):
        if request.header("X-Postmark-Server-Token") != self.TOKEN:
            raise self.refuse("Bad token", 10, 401)
        if request.path not in ("/email", "/email/batch"):
            raise Refused("no such path", 404, "")
        if request.header("Accept") != "application/json":
            raise self.refuse("Accept", 402)
        if request.path == "/email":
            result = self.take(request.json(self.refuse("Invalid JSON", 402)), request)
            return 200, {}, result, result["MessageID"]
        messages = request.json(self.refuse("Invalid JSON", 402), list)
        if not 1 <= len(messages) <= 500:
            raise self.refuse("too many messages", 410)
        results = [(m.get("TextBody", ""), self.result(m, request)) for m in messages]
        return 200, {}, listed(results), f"batch-{next(numbers)}"


MAIL = {"sendgrid": SendGrid(), "mailgun": Mailgun(), "postmark": Postmark()}
