"""Requests that are wrong, with the answer that each must get. Braces stand for what a server has."""

import json

HEAD = "Host: {host}\r\nAuthorization: Bearer {token}\r\n"
SMALL = '{"command":["true"]}'


def request(line, *headers, body=""):
    more = "".join(h + "\r\n" for h in headers)
    length = f"Content-Length: {len(body.encode())}\r\n" if body else ""
    return f"{line} HTTP/1.1\r\n{HEAD}{more}{length}\r\n" + body.replace("{", "{{").replace("}", "}}")


def post(body, *headers, path="/v1/workloads"):
    return request("POST " + path, "Content-Type: application/json", *headers, body=body)


def raw_body(body, path="/v1/workloads", method="POST"):
    """Bytes that are no text."""
    return (
        f"{method} {path} HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n",
        body,
    )


H100 = "/v1/teams/vision/shares/h100"
GET = "GET /v1/teams"
STREAM = "Accept: text/event-stream"
CHUNKED = request("POST /v1/workloads", "Content-Type: application/json", "Transfer-Encoding: chunked")
HEADS = [
    ("GET /v1/teams HTTP/1.1\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", 421, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 401, ""),
    ("GET http://evil.example/v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\nHost: {host}\n\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\n folded\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost : {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nX: a\x00b\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\n: empty\r\n\r\n", 400, ""),
    ("GET  /v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/0.9\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/2.0\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET /v1/teams HTTP/1.1 x\r\nHost: {host}\r\n\r\n", 400, ""),
    ("get /v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("G\x01T /v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET v1/teams HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("GET * HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    ("CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n", 400, ""),
    (request("GET /v1/../v1/teams"), 400, ""),
    (request("GET /v1/%2e%2e/teams"), 400, ""),
    (request("GET /v1%2fteams"), 400, ""),
    (request("GET /v1/teams/%00"), 400, ""),
    (request("GET /v1/teams/%"), 400, ""),
    (request("GET /v1/teams/%zz"), 400, ""),
    (request("GET /v1/teams/%ff"), 404, ""),
    (request("GET /v1/teams/%252e%252e"), 404, ""),
    (request("GET /v1/teams?limit=%"), 400, "?"),
    (request("GET /" + "a" * 20_000), 431, ""),
    (request(GET, "X-Long: " + "a" * 20_000), 431, ""),
    (request(GET, *[f"X-{n}: a" for n in range(5_000)]), 431, ""),
    (request("POST /v1/workloads", "Content-Length: 5", "Transfer-Encoding: chunked"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: 5", "Content-Length: 6"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: -1"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: +5"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: 0x5"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: 5, 5"), 400, ""),
    (request("POST /v1/workloads", "Content-Length: 99999999999999999999"), (400, 413), ""),
    (request("POST /v1/workloads", "Content-Length: 4611686018427387904"), (400, 413), ""),
    (request("POST /v1/workloads", "Transfer-Encoding: gzip, chunked"), (400, 501), ""),
    (request("POST /v1/workloads", "Transfer-Encoding: identity"), (400, 501), ""),
    (CHUNKED + "zz\r\n\r\n", 400, ""),
    (CHUNKED + "ffffffffffffffff1\r\n", (400, 413), ""),
    (request("POST /v1/workloads", "Expect: 200-maybe", body=SMALL), (415, 417, 400), ""),
    (request(GET, "Origin: http://evil.example"), 403, ""),
    (
        request("POST /v1/workloads", "Origin: http://evil.example", "Content-Type: application/json", body=SMALL),
        403,
        "",
    ),
    (request("DELETE /v1/tokens/tk_v", "Origin: http://evil.example"), 403, ""),
    (request("OPTIONS /v1/workloads", "Origin: http://evil.example", "Access-Control-Request-Method: POST"), 403, ""),
    (request(GET, "Origin: null"), 403, ""),
    (request(GET, "Origin: http://{host}.evil.example"), 403, ""),
    (request("GET /v1/teams?token=abc"), 400, "?token"),
    (request("GET /v1/health?token=abc"), 400, "?token"),
    (request("GET /v1/events?access_token=abc"), 400, "?access_token"),
    (request("POST /v1/workloads?token=abc", "Content-Type: application/json", body=SMALL), 400, "?token"),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic YTpi\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer heddle_tk_1_" + "0" * 64 + "\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}0\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token} x\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nAuthorization: bearer " + "x" * 9_000 + "\r\n\r\n", 401, ""),
    ("GET /v1/teams HTTP/1.1\r\nHost: {host}\r\nCookie: token={token}\r\n\r\n", 401, ""),
]


def with_field(text):
    return '{"command":["true"],' + text + "}"


BODIES = [
    (post(with_field(text)), 400, pointer)
    for text, pointer in (
        ('"priority":4611686018427387904', "/priority"),
        ('"priority":-9223372036854775808', "/priority"),
        ('"priority":18446744073709551616', "/priority"),
        ('"priority":1e30', "/priority"),
        ('"priority":1.5', "/priority"),
        ('"priority":-0.5', "/priority"),
        ('"nodes":4611686018427387904', "/nodes"),
        ('"nodes":-1', "/nodes"),
        ('"retries":1e400', ""),
        ('"retries":-1', "/retries"),
        ('"resources":{"gpus":-4}', "/resources/gpus"),
        ('"resources":{"gpus":9223372036854775807}', "/resources/gpus"),
        ('"resources":{"gpu":0.3333}', "/resources/gpu"),
        ('"resources":{"gpu":NaN}', ""),
        ('"resources":{"gpu":-Infinity}', ""),
        ('"resources":{"memory":"9223372036854775808GiB"}', "/resources/memory"),
        ('"resources":{"cpus":1e-9}', "/resources/cpus"),
        ('"resources":{"gpus":1,"gpus":1}', "/resources/gpus"),
        ('"resources":null', "/resources"),
        ('"time_limit":"9223372036854775808d"', "/time_limit"),
        ('"time_limit":"-5m"', "/time_limit"),
        ('"grace":"1d"', "/grace"),
        ('"state":"running"', "/state"),
        ('"owner_id":"us_1"', "/owner_id"),
        ('"cost_micros":0', "/cost_micros"),
        ('"uid":0', "/uid"),
        ('"privileged":true', "/privileged"),
        ('"volumes":["/:/host"]', "/volumes"),
        ('"command":["false"]', "/command"),
        ('"env":{"A":"1","A":"2"}', "/env/A"),
        ('"env":{"LD_PRELOAD\\u0000":"x"}', "/env/LD_PRELOAD\0"),
        ('"env":{"HEDDLE_TEAM":"vision"}', "/env/HEDDLE_TEAM"),
        ('"files":[{"path":"../../etc/cron.d/x","content":"x"}]', "/files/0/path"),
        ('"files":[{"path":"/etc/x","content":"x"}]', "/files/0/path"),
        ('"files":[{"path":"a\\nb","content":"x"}]', "/files/0/path"),
        ('"files":[{"path":"a","content":"x"},{"path":"./a","content":"y"}]', "/files/1/path"),
        ('"files":[{"path":"a","content_base64":"=AAA"}]', "/files/0/content_base64"),
        ('"name":"' + "n" * 64 + '"', "/name"),
        ('"name":"..\\/.."', "/name"),
        ('"project":"' + "p" * 257 + '"', "/project"),
        ('"pools":' + json.dumps([f"p{n}" for n in range(17)]), "/pools"),
        ('"team":"' + "t" * 10_000 + '"', "/team"),
        ('"a~b\\/c":1', "/a~0b~1c"),
        ('"env":' + json.dumps({f"A{n}": "x" for n in range(257)}), "/env"),
        ('"files":' + json.dumps([{"path": f"f{n}", "content": ""} for n in range(65)]), "/files"),
    )
] + [
    (post(body), status, pointer)
    for body, status, pointer in (
        ('{"command":' + json.dumps(["a"] * 1025) + "}", 400, "/command"),
        ('{"command":["' + "a" * 70_000 + '"]}', 400, "/command/0"),
        ("[" * 100_000, 400, ""),
        ("[" * 33 + "]" * 33, 400, ""),
        ('{"a":' * 1_000 + "1" + "}" * 1_000, 400, ""),
        ("{" + ",".join(f'"k{n}":0' for n in range(20_000)) + "}", 400, ""),
        ('{"command":[' + ",".join(['"a"'] * 50_000) + "]}", 400, ""),
        ("9" * 500_000, 400, ""),
        ('"' + "\\u0041" * 100_000 + '"', 400, ""),
        ('{"command":["a"]}{"command":["b"]}', 400, ""),
        ('{"command":["a"]} //', 400, ""),
        ("{,}", 400, ""),
        ("\ufeff" + SMALL, 400, ""),
        (SMALL.replace("true", "\\ud800"), 400, ""),
        (SMALL.replace("true", "\\udc00\\ud800"), 400, ""),
        ("", 400, ""),
        ("true", 400, ""),
        ("x" * 1_100_000, 413, ""),
    )
]

BINARY = [
    (raw_body(b'{"command":["\xff"]}'), 400, ""),
    (raw_body(b'{"command":["\xc0\x80"]}'), 400, ""),
    (raw_body(b'{"command":["\xf4\x90\x80\x80"]}'), 400, ""),
    (raw_body(b'{"command":["\xed\xa0\x80"]}'), 400, ""),
    (raw_body(b'{"\xfe":1}'), 400, ""),
    (raw_body(b"\x1f\x8b\x08\x00" + bytes(100)), 400, ""),
    (raw_body(SMALL.encode("utf-16")), 400, ""),
    (raw_body(SMALL.encode("utf-32")), 400, ""),
    (raw_body(bytes(1000)), 400, ""),
    (raw_body(b"command: [true]\n", "/v1/teams"), 400, ""),
    (raw_body(b"x" * 10_000_000), 413, ""),
    (raw_body(b'{"command":["' + b"a" * 10_000_000 + b'"]}'), 413, ""),
    (raw_body(b"[" * 10_000_000, "/v1/teams"), 413, ""),
    (raw_body(b"{}" * 5_000_000, "/v1/tokens"), 413, ""),
]

MEDIA = [
    (request("POST /v1/workloads", *more, body=SMALL), 415, "")
    for more in (
        (),
        ("Content-Type: text/plain",),
        ("Content-Type: application/x-www-form-urlencoded",),
        ("Content-Type: multipart/form-data; boundary=x",),
        ("Content-Type: application/yaml",),
        ("Content-Type: application/json; charset=latin1",),
        ("Content-Type: text/json",),
        ("Content-Type: application/json", "Content-Encoding: gzip"),
        ("Content-Type: application/json", "Content-Encoding: zstd"),
    )
] + [
    (post(SMALL, "Idempotency-Key: " + "k" * 129), 400, "Idempotency-Key:"),
    (post(SMALL, "Idempotency-Key: a b"), 400, "Idempotency-Key:"),
    (post(SMALL, "Idempotency-Key: \xfc"), 400, ""),
    (post(SMALL, "Idempotency-Key: a", "Idempotency-Key: b"), 400, ""),
]

METHODS = [
    (request(f"{method} {path}"), 405, "")
    for path, methods in (
        ("/v1/health", ("POST", "PUT", "DELETE", "PATCH")),
        ("/v1/workloads", ("PUT", "PATCH", "DELETE")),
        ("/v1/teams", ("PUT", "DELETE")),
        ("/v1/teams/vision", ("POST", "PUT", "DELETE")),
        ("/v1/events", ("POST", "DELETE")),
        ("/v1/audit", ("POST", "DELETE")),
        ("/metrics", ("POST",)),
        ("/v1/status", ("PUT",)),
        ("/v1/users", ("DELETE",)),
        ("/v1/nodes/sim-1", ("DELETE", "POST")),
        ("/v1/allocations", ("POST", "DELETE")),
        ("/v1/teams/vision/members/ana", ("POST",)),
        ("/v1/tokens", ("DELETE",)),
        ("/v1/workloads", ("TRACE", "PROPFIND", "FOO")),
    )
    for method in methods
]


def patch(path, body, *headers, method="PATCH"):
    return request(f"{method} {path}", "Content-Type: application/json", *headers, body=body)


OTHERS = [
    (patch("/v1/teams/vision", '{"display":"x"}'), 428, "If-Match:"),
    (patch("/v1/teams/vision", '{"display":"x"}', 'If-Match: "999"'), 412, ""),
    (patch("/v1/teams/vision", '{"display":"x"}', 'If-Match: "4611686018427387904"'), (400, 412), ""),
    (patch("/v1/teams/vision", '{"display":"x"}', 'If-Match: W/"1"'), 400, "If-Match:"),
    (patch("/v1/teams/vision", '{"display":"x"}', "If-Match: 1e0"), 400, "If-Match:"),
    (patch("/v1/teams/vision", '{"display":"x"}', "If-Match:"), 400, "If-Match:"),
    (patch("/v1/teams/vision", '{"display":"x"}', 'If-Match: "01"'), 400, "If-Match:"),
    (patch("/v1/teams/vision", '{"display":"x"}', "If-Match: *", "If-Match: *"), 400, "If-Match:"),
    (post("{}", "If-Match:", path="/v1/workloads/{{work}}/cancel"), 400, "If-Match:"),
    (request("GET /v1/workloads/{{work}}/logs", "Last-Event-ID:"), 400, "Last-Event-ID:"),
    (request("GET /v1/workloads/{{work}}/logs", "Last-Event-ID: x", STREAM), 400, "Last-Event-ID:"),
    (request("GET /v1/events", "Last-Event-ID:", STREAM), 400, "Last-Event-ID:"),
    (patch("/v1/teams/vision", '{"display":"x"}', 'If-Match: "1", "2"'), 400, "If-Match:"),
    (patch("/v1/teams/vision", '{"id":"tm_1"}', "If-Match: *"), 400, "/id"),
    (patch("/v1/teams/vision", '{"display":"a","display":"b"}', "If-Match: *"), 400, "/display"),
    (patch("/v1/nodes/sim-1", '{"state":"draining"}'), 428, "If-Match:"),
    (patch("/v1/nodes/sim-1", '{"state":"draining"}', 'If-Match: "99999"'), 412, ""),
    (patch("/v1/nodes/sim-1", '{"state":"exploding"}', "If-Match: *"), 400, "/state"),
    (patch(H100, '{"guarantee":1e9}', "If-Match: *", method="PUT"), 400, "/guarantee"),
    (patch(H100, '{"guarantee":17}', "If-Match: *", method="PUT"), 422, "/guarantee"),
    (patch(H100, '{"guarantee":4611686018427387904}', "If-Match: *", method="PUT"), 400, "/guarantee"),
    (patch(H100, '{"guarantee":2,"weight":0}', "If-Match: *", method="PUT"), 400, "/weight"),
    (patch(H100, '{"guarantee":1}', 'If-Match: "77"', method="PUT"), 412, ""),
    (patch("/v1/teams/vision/shares/no-pool", '{"guarantee":1}', "If-Match: *", method="PUT"), 404, ""),
    (patch("/v1/teams/vision/members/ana", '{"role":"admin"}', method="PUT"), 400, "/role"),
    (post('{"name":"x","user":"nobody"}', path="/v1/tokens"), 404, ""),
    (post('{"name":"x","lives":"0s"}', path="/v1/tokens"), 400, "/lives"),
    (post('{"name":"vision"}', path="/v1/teams"), 409, "/name"),
    (post('{"name":"ana"}', path="/v1/users"), 409, "/name"),
    (post('{"name":"x","admin":1}', path="/v1/users"), 400, "/admin"),
    (request("GET /v1/workloads?limit=9223372036854775808"), 400, "?limit"),
    (request("GET /v1/workloads?limit=-1"), 400, "?limit"),
    (request("GET /v1/workloads?limit=1e2"), 400, "?limit"),
    (request("GET /v1/workloads?all"), 400, "?all"),
    (request("GET /v1/workloads?team=vision&team=mallory"), 400, "?team"),
    (request("GET /v1/workloads?cursor=" + "A" * 4_000), 400, "?cursor"),
    (request("GET /v1/workloads?cursor=" + "A" * 400), 400, "?cursor"),
    (request("GET /v1/workloads?" + "&".join(f"a{n}=1" for n in range(1_000))), 400, ""),
    (request("GET /v1/workloads?state=RUNNING"), 400, "?state"),
    (request("GET /v1/workloads?name=%1b[31m"), 400, "?name"),
    (request("GET /v1/events", "Accept: text/event-stream", "Last-Event-ID: x y"), 400, ""),
    (request("GET /v1/events?cursor=AAAA", "Accept: text/event-stream"), 400, "?cursor"),
    (request("GET /v1/workloads/{{work}}/logs?tail=0"), 400, "?tail"),
    (request("GET /v1/workloads/{{work}}/logs?cursor=1.2"), 400, "?cursor"),
    (request("GET /v1/workloads/{{work}}/logs?cursor=-1.0.0"), 400, "?cursor"),
    (request("GET /v1/workloads/{{work}}/logs?cursor=999999999999999.0.0"), (200, 400, 404, 410), ""),
    (request("GET /v1/workloads/{{work}}/logs?replica=4096"), 400, "?replica"),
    (request("GET /v1/workloads/{{work}}/logs?replica=7"), 400, "?replica"),
    (request("GET /v1/workloads/{{work}}/logs?attempt=0"), 400, "?attempt"),
    (request("GET /v1/workloads/{{work}}/logs?replica=..%2f..%2fetc"), 400, "?replica"),
    (post('{"reason":"x"}', path="/v1/workloads/{{work}}/cancel"), 400, "/reason"),
    (post("[]", path="/v1/workloads/{{work}}/cancel"), 400, ""),
    (post("{}", 'If-Match: "999"', path="/v1/workloads/{{work}}/cancel"), 412, ""),
    (request("DELETE /v1/tokens/tk_v"), 404, ""),
    (request("DELETE /v1/tokens/..%2f"), 400, ""),
    (request("GET /v1/workloads/wl_" + "v" * 14), 404, ""),
    (request("GET /v1/workloads/wl_vvvvvvvvvvvvv"), 404, ""),
    (request("GET /v1/workloads/" + "w" * 5_000), 404, ""),
    (request("GET /v2/teams"), 404, ""),
    (request("GET /"), 404, ""),
    (request("GET /debug/pprof"), 404, ""),
    (request("GET /v1/teams/"), 404, ""),
    (request("GET /v1//teams"), 404, ""),
    (request("GET /problems/%2e%2e/etc"), 400, ""),
]


# (what is sent, expected status, pointer of the first error or "")
REQUESTS = [*HEADS, *BODIES, *BINARY, *MEDIA, *METHODS, *OTHERS]
