"""Slack, Discord, Telegram, ntfy, Teams."""

import itertools

from common import Refused, only

numbers = itertools.count(1)


class SlackWebhook:
    PATH = "/services/T000/B000/SECRET"

    def handle(self, request):
        if request.path != self.PATH:
            raise Refused("wrong URL", 404, "no_service")
        body = request.json(Refused("not JSON", 400, "invalid_payload"))
        only(body, {"text", "blocks", "attachments"}, lambda why: Refused(why, 400, "invalid_payload"))
        if not isinstance(body.get("text"), str) or not body["text"]:
            raise Refused("no text", 400, "no_text")
        if len(body["text"]) > 40000:
            raise Refused("too long", 400, "invalid_payload")
        return 200, {}, "ok", f"webhook-{next(numbers)}"


class Slack:
    TOKEN = "xoxb-right-token"

    def __init__(self):
        self.history = []

    def refuse(self, error, status=200):
        return Refused(error, status, {"ok": False, "error": error})

    def handle(self, request):
        if request.header("Authorization") != "Bearer " + self.TOKEN:
            raise self.refuse("invalid_auth")
        if request.path == "/api/conversations.history" and request.method == "GET":
            messages = [m for m in self.history if m["channel"] == request.query.get("channel")]
            return 200, {}, {"ok": True, "messages": messages}, ""
        if request.path != "/api/chat.postMessage":
            raise self.refuse("unknown_method")
        body = request.json(self.refuse("invalid_form_data"))
        only(body, {"channel", "text", "blocks", "thread_ts", "metadata", "unfurl_links"},
             lambda why: self.refuse("invalid_arg_name"))
        if not body.get("channel", "").startswith(("C", "D", "G", "U")):
            raise self.refuse("channel_not_found")
        if not body.get("text"):
            raise self.refuse("no_text")
        if len(body["text"]) > 40000:
            raise self.refuse("msg_too_long")
        ts = f"1795958769.{next(numbers):06d}"
        self.history.append({**body, "ts": ts})
        return 200, {}, {"ok": True, "channel": body["channel"], "ts": ts, "message": {}}, ts


class Discord:
    AGENT = "DiscordBot ("

    def refuse(self, why, status, code):
        return Refused(why, status, {"code": code, "message": why})

    def content(self, request, members):
        if not request.header("User-Agent").startswith(self.AGENT):
            raise self.refuse("User-Agent", 403, 40333)
        body = request.json(self.refuse("Invalid JSON", 400, 50109))
        only(body, members, lambda why: self.refuse(why, 400, 50035))
        if not body.get("content"):
            raise self.refuse("Cannot send an empty message", 400, 50006)
        if len(body["content"]) > 2000:
            raise self.refuse("Invalid Form Body", 400, 50035)
        return body


class DiscordWebhook(Discord):
    PATH = "/api/webhooks/111/SECRET"

    def handle(self, request):
        if request.path != self.PATH:
            raise self.refuse("Unknown Webhook", 404, 10015)
        self.content(request, {"content", "embeds", "allowed_mentions"})
        if request.query.get("wait") != "true":
            return 204, {}, "", ""
        number = str(next(numbers))
        return 200, {}, {"id": number, "content": "…"}, number


class DiscordBot(Discord):
    TOKEN = "right-bot-token"

    def __init__(self):
        self.nonces = {}

    def handle(self, request):
        if request.header("Authorization") != "Bot " + self.TOKEN:
            raise self.refuse("401: Unauthorized", 401, 0)
        if request.path != "/api/v10/channels/123456789012345678/messages":
            raise self.refuse("Unknown Channel", 404, 10003)
        body = self.content(request, {"content", "embeds", "allowed_mentions", "nonce", "enforce_nonce"})
        nonce = body.get("nonce", "")
        if len(nonce) > 25:
            raise self.refuse("Invalid Form Body", 400, 50035)
        new = nonce not in self.nonces
        number = self.nonces.setdefault(nonce, str(next(numbers)))
        return 200, {}, {"id": number, "nonce": nonce}, number if new else ""


class Telegram:
    TOKEN = "123456:right-token"

    def refuse(self, description, code):
        return Refused(description, code, {"ok": False, "error_code": code, "description": description})

    def handle(self, request):
        if not request.path.startswith("/bot"):
            raise self.refuse("Not Found", 404)
        token, _, method = request.path[len("/bot"):].partition("/")
        if token != self.TOKEN:
            raise self.refuse("Unauthorized", 401)
        if method != "sendMessage":
            raise self.refuse("Not Found", 404)
        body = request.json(self.refuse("Bad Request: can't parse JSON", 400))
        only(body, {"chat_id", "text", "parse_mode", "message_thread_id", "disable_notification", "reply_markup"},
             lambda why: self.refuse("Bad Request: " + why, 400))
        if not str(body.get("chat_id", "")).lstrip("-@").isalnum() or body["chat_id"] == "0":
            raise self.refuse("Bad Request: chat not found", 400)
        if not body.get("text"):
            raise self.refuse("Bad Request: message text is empty", 400)
        if len(body["text"].encode("utf-16-le")) // 2 > 4096:
            raise self.refuse("Bad Request: message is too long", 400)
        number = next(numbers)
        return 200, {}, {"ok": True, "result": {"message_id": number, "date": 1, "chat": {"id": 7}}}, str(number)


class Ntfy:
    TOKEN = "tk_right-token"

    def refuse(self, why, http, code):
        return Refused(why, http, {"code": code, "http": http, "error": why, "link": ""})

    def handle(self, request):
        if request.header("Authorization") != "Bearer " + self.TOKEN:
            raise self.refuse("unauthorized", 401, 40101)
        if request.path != "/":
            raise self.refuse("JSON goes to the root", 400, 40024)
        body = request.json(self.refuse("invalid JSON", 400, 40024))
        only(body, {"topic", "message", "title", "priority", "tags", "click"},
             lambda why: self.refuse(why, 400, 40024))
        if not body.get("topic", "").replace("-", "").replace("_", "").isalnum():
            raise self.refuse("invalid topic", 400, 40009)
        if not isinstance(body.get("priority", 3), int) or not 1 <= body.get("priority", 3) <= 5:
            raise self.refuse("invalid priority", 400, 40007)
        if len(body.get("message", "").encode()) > 4096:
            raise self.refuse("too large", 413, 41301)
        number = f"id{next(numbers)}"
        return 200, {}, {"id": number, "time": 1, "event": "message", "topic": body["topic"]}, number


class Teams:
    PATH = "/workflows/SECRET"

    def handle(self, request):
        if request.path != self.PATH:
            raise Refused("wrong URL", 404, "")
        body = request.json(Refused("not JSON", 400, "Bad payload received by generic incoming webhook."))
        if len(request.body) > 28 * 1024:
            raise Refused("too large", 413, "")
        try:
            card = body["attachments"][0]
            good = (body["type"] == "message" and card["contentType"] == "application/vnd.microsoft.card.adaptive" and
                    card["content"]["type"] == "AdaptiveCard" and
                    all(block["type"] == "TextBlock" and block["text"] for block in card["content"]["body"]))
        except (KeyError, IndexError, TypeError):
            good = False
        if not good:
            raise Refused("no card", 400, "Bad payload received by generic incoming webhook.")
        return 202, {}, "", f"card-{next(numbers)}"


CHAT = {"slack-webhook": SlackWebhook(), "slack": Slack(), "discord-webhook": DiscordWebhook(),
        "discord-bot": DiscordBot(), "telegram": Telegram(), "ntfy": Ntfy(), "teams": Teams()}
