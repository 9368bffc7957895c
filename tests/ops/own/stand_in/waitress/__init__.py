"""Stands in for waitress: serves a WSGI application on a socket that listens, a thread a request."""

from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer


class _Handler(WSGIRequestHandler):
    def log_message(self, *_):  # type: ignore[explicit-override] # it runs where no typing_extensions are
        pass


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, listener, app):
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.server_name, self.server_port = listener.getsockname()
        self.setup_environ()
        self.set_app(app)


def serve(app, *, sockets, threads, connection_limit, ident):
    with _Server(sockets[0], app) as server:
        server.serve_forever()
