"""What the vendors share: a parsed request, and ways to refuse it."""

import base64
import json
import urllib.parse


class Refused(Exception):
    """The vendor's own answer to a request that its documentation forbids."""

    def __init__(self, why, status, body="", headers=None):
        super().__init__(why)
        self.why, self.status, self.body, self.headers = why, status, body, headers or {}


class Request:
    def __init__(self, method, path, vendor, headers, body):
        self.method, self.full_path, self.headers, self.body = method, path, headers, body
        parts = urllib.parse.urlsplit(path)
        self.path = parts.path[len(vendor) + 1:]  # as the vendor itself would see it
        self.taken = []  # the ids of our messages that the vendor accepted
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))

    def header(self, name):
        return self.headers.get(name, "")

    def json(self, otherwise, kind=dict):
        """The body as JSON of that kind; raises `otherwise` when it is none, or is not called so."""
        if not self.header("Content-Type").startswith("application/json"):
            raise otherwise
        try:
            document = json.loads(self.body.decode("utf-8"))
        except ValueError:
            raise otherwise from None
        if not isinstance(document, kind):
            raise otherwise
        return document

    def form(self, otherwise):
        if not self.header("Content-Type").startswith("application/x-www-form-urlencoded"):
            raise otherwise
        return dict(urllib.parse.parse_qsl(self.body.decode("utf-8"), keep_blank_values=True))

    def basic(self):
        """User and password, or None."""
        scheme, _, value = self.header("Authorization").partition(" ")
        if scheme != "Basic":
            return None
        return tuple(base64.b64decode(value).decode().split(":", 1))


def listed(results):
    """Results with the texts of their messages, as a vendor that errs lists them: without some, and some twice."""
    shown = []
    for text, result in results:
        shown += [result] * (0 if "NO-RESULT" in text else 2 if "TWO-RESULTS" in text else 1)
    return shown


def only(document, allowed, error):
    """Members that nobody documented are refused."""
    for name in document:
        if name not in allowed:
            raise error(f"unknown member {name}")


def size(text, encoding="cp949"):
    return len(text.encode(encoding))
