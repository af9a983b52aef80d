"""An OpenAI-compatible server on 127.0.0.1 that does what a test tells it to, good or bad.

    with MisbehavingServer() as server:
        server.replies = [error(500, "…"), completion("text")]   # one a request; the last one stays
        … server.url, server.requests …

A reply is a function of (handler, body) that writes the whole answer. Requests are kept with their
path, headers and body, in order of arrival.
"""

import http.server
import json
import socket
import ssl
import struct
import threading
import time


def send(handler, status, body, headers=()):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def answer_of(text, finish="stop", chat=True, message=(), **members):
    choice = {"index": 0, "finish_reason": finish}
    if chat:
        choice["message"] = {"role": "assistant", "content": text, **dict(message)}
    else:
        choice["text"] = text
    return {"id": "x", "object": "chat.completion", "model": "served-name", "choices": [choice],
            "usage": {"prompt_tokens": 40, "completion_tokens": 7}, **members}


def completion(text="A summary.", **arguments):
    return lambda handler, body: send(handler, 200, answer_of(text, **arguments))


def raw(data, status=200):
    return lambda handler, body: send(handler, status, data)


def error(status, body, *headers):
    return lambda handler, request: send(handler, status, body, headers)


def reset_in_the_middle(handler, body):
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def slow(seconds):
    def reply(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:  # a byte now and then: no pause is long
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            pass
        handler.close_connection = True
    return reply


def huge(megabytes):
    def reply(handler, body):
        handler.send_response(200)
        handler.end_headers()
        try:
            handler.wfile.write(b'{"choices": "')
            for _ in range(megabytes):
                handler.wfile.write(b"a" * (1 << 20))
        except OSError:
            pass
        handler.close_connection = True
    return reply


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.server.owner.answer(self, None)

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        self.server.owner.answer(self, self.rfile.read(length))


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # clients that hang up are part of the tests


class MisbehavingServer:
    def __init__(self, certificate=None):
        self.replies = [completion()]
        self.models = lambda handler, body: send(
            handler, 200, {"object": "list", "data": [{"id": "m", "root": "org/m", "max_model_len": 4096}]})
        self.tokenize = error(404, {"error": "no such path"})
        self.requests = []
        self.at_once = 0
        self.most_at_once = 0
        self.lock = threading.Lock()
        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.server.owner = self
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def asked(self):
        """The bodies of requests for completions."""
        with self.lock:
            return [json.loads(body) for path, _, body in self.requests if path.endswith("completions")]

    def answer(self, handler, body):
        with self.lock:
            self.requests.append((handler.path, dict(handler.headers), body))
            if handler.path == "/v1/models":
                reply = self.models
            elif handler.path.endswith("/tokenize"):
                reply = self.tokenize
            else:
                reply = self.replies[0]
                if len(self.replies) > 1:
                    self.replies.pop(0)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            reply(handler, body)
        finally:
            with self.lock:
                self.at_once -= 1
