"""Programs that go live, each in its own way. ``HOST`` and ``PORT`` are put in; what is blocked prints ``refused``."""

import textwrap

_TRY = """
try:
{body}
except Exception as error:
    print("refused", type(error).__name__)
else:
    print("went live")
"""


def attempt(body, host="127.0.0.1", port=9):
    """The program that does ``body`` and goes on whatever happens."""
    *imports, rest = textwrap.dedent(body).strip("\n").split("\n---\n")
    text = "\n".join(imports) + _TRY.format(body=textwrap.indent(rest, "    "))
    return text.replace("HOST", repr(host)).replace("PORT", str(port))


SOCKET = "import socket\n---\nsocket.create_connection((HOST, PORT), timeout=5).close()"

PYTHON = {
    "a raw socket": SOCKET,
    "connect_ex": """
        import socket
        ---
        with socket.socket() as s:
            if s.connect_ex((HOST, PORT)):
                raise OSError
        """,
    "a thread": """
        import socket, threading
        def work():
            try:
                socket.create_connection((HOST, PORT))
                done.append(None)
            except Exception as error:
                done.append(error)
        done = []
        ---
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if done[0]:
            raise done[0]
        """,
    "an executor": """
        import socket
        from concurrent.futures import ThreadPoolExecutor
        ---
        with ThreadPoolExecutor() as pool:
            pool.submit(socket.create_connection, (HOST, PORT)).result()
        """,
    "asyncio": """
        import asyncio
        ---
        asyncio.run(asyncio.wait_for(asyncio.open_connection(HOST, PORT), 5))
        """,
    "run_in_executor": """
        import asyncio, socket
        async def work():
            await asyncio.get_running_loop().run_in_executor(None, socket.create_connection, (HOST, PORT))
        ---
        asyncio.run(work())
        """,
    "urllib": """
        import urllib.request
        ---
        urllib.request.urlopen(f"http://{HOST}:PORT/", timeout=5)
        """,
    "http.client": """
        import http.client
        ---
        http.client.HTTPConnection(HOST, PORT, timeout=5).request("GET", "/")
        """,
    "httpx": """
        import httpx
        ---
        httpx.get(f"http://{HOST}:PORT/", timeout=5)
        """,
    "httpx, async": """
        import asyncio, httpx
        async def work():
            async with httpx.AsyncClient(timeout=5) as client:
                await client.get(f"http://{HOST}:PORT/")
        ---
        asyncio.run(work())
        """,
    "requests": """
        import requests
        ---
        requests.get(f"http://{HOST}:PORT/", timeout=5)
        """,
    "aiohttp": """
        import aiohttp, asyncio
        async def work():
            async with aiohttp.ClientSession() as session:
                await session.get(f"http://{HOST}:PORT/")
        ---
        asyncio.run(work())
        """,
    "UDP": """
        import socket
        ---
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"x", (HOST, PORT))
        """,
    "a UDP socket that is connected": """
        import socket
        ---
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((HOST, PORT))
            s.send(b"x")
        """,
    "sendmsg": """
        import socket
        ---
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendmsg([b"x"], [], 0, (HOST, PORT))
        """,
    "a fork": """
        import os, socket
        ---
        pid = os.fork()
        if not pid:
            try:
                socket.create_connection((HOST, PORT))
            except OSError:
                os._exit(1)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            raise OSError
        """,
    "a Python subprocess": """
        import subprocess, sys
        ---
        code = f"import socket; socket.create_connection(({HOST!r}, PORT))"
        subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)
        """,
    "multiprocessing": """
        import multiprocessing, socket
        ---
        with multiprocessing.get_context("fork").Pool(1) as pool:
            pool.apply(socket.create_connection, ((HOST, PORT),))
        """,
}
"""Python's own ways: at every level, even that of the hooks alone, these are blocked with the stack of the program."""

BENEATH = {
    "grpc's core": """
        import grpc
        ---
        grpc.channel_ready_future(grpc.insecure_channel(f"{HOST}:PORT")).result(timeout=3)
        """,
    "uvloop": """
        import asyncio, uvloop
        async def work():
            await asyncio.open_connection(HOST, PORT)
        ---
        uvloop.run(work())
        """,
    "the C library": """
        import ctypes, socket, struct
        libc = ctypes.CDLL(None, use_errno=True)
        ---
        to = struct.pack("=H", 2) + (PORT).to_bytes(2, "big") + socket.inet_aton(HOST) + bytes(8)
        if libc.connect(libc.socket(2, 1, 0), to, 16):
            raise OSError(ctypes.get_errno())
        """,
    "the C library, a datagram": """
        import ctypes, socket, struct
        libc = ctypes.CDLL(None, use_errno=True)
        ---
        to = struct.pack("=H", 2) + (PORT).to_bytes(2, "big") + socket.inet_aton(HOST) + bytes(8)
        if libc.sendto(libc.socket(2, 2, 0), b"x", 1, 0, to, 16) < 0:
            raise OSError(ctypes.get_errno())
        """,
    "another program": """
        import subprocess
        ---
        subprocess.run(["curl", "-s", "-o", "/dev/null", "-m", "5", f"http://{HOST}:PORT/"], check=True)
        """,
    "a shell": """
        import os
        ---
        if os.system(f"bash -c 'exec 3<>/dev/tcp/{HOST}/PORT' 2>/dev/null"):
            raise OSError
        """,
    "a Python that ignores its environment": """
        import subprocess, sys
        ---
        code = f"import socket; socket.create_connection(({HOST!r}, PORT))"
        subprocess.run([sys.executable, "-I", "-c", code], check=True, stderr=subprocess.DEVNULL)
        """,
    "a Python without our variables": """
        import subprocess, sys
        ---
        code = f"import socket; socket.create_connection(({HOST!r}, PORT))"
        subprocess.run([sys.executable, "-c", code], env={}, check=True, stderr=subprocess.DEVNULL)
        """,
}
"""What no Python hook sees from the inside."""

HARMLESS = {
    "a socket pair": """
        import socket
        a, b = socket.socketpair()
        a.sendall(b"x")
        assert b.recv(1) == b"x"
        """,
    "descriptors over a socket pair": """
        import socket
        a, b = socket.socketpair()
        socket.send_fds(a, [b"x"], [0])
        assert socket.recv_fds(b, 1, 1)[1]
        """,
    "asyncio": """
        import asyncio, sys
        async def work():
            await asyncio.sleep(0)
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
            assert await process.wait() == 0
        asyncio.run(work())
        """,
    "multiprocessing": """
        import multiprocessing as m
        if __name__ == "__main__":
            with m.get_context("spawn").Manager() as held:
                assert list(held.list([1])) == [1]
            with m.get_context("fork").Pool(2) as pool:
                assert pool.map(abs, [-1]) == [1]
        """,
    "an own Unix server": """
        import socket, tempfile
        name = tempfile.mkdtemp() + "/s"
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        socket.socket(socket.AF_UNIX).connect(name)
        """,
    "an own abstract Unix server": """
        import os, socket
        name = f"\\0replay-test-{os.getpid()}"
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        socket.socket(socket.AF_UNIX).connect(name)
        """,
    "listening": """
        import socket
        socket.create_server(("127.0.0.1", 0)).close()
        """,
    "names of this machine": """
        import socket
        socket.getaddrinfo("localhost", 80)
        socket.getaddrinfo("127.0.0.1", 80)
        socket.getaddrinfo(None, 80)
        socket.getfqdn()
        socket.gethostname()
        """,
    "a user's name": """
        import os, pwd
        pwd.getpwuid(os.getuid())
        """,
    "a Unix socket that is not there": """
        import socket
        try:
            socket.socket(socket.AF_UNIX).connect("/nonexistent/s")
        except FileNotFoundError:
            pass
        """,
    "grpc's start": """
        import grpc
        grpc.insecure_channel("127.0.0.1:1").close()
        """,
    "urllib3's start": """
        import urllib3
        """,
}
"""What stays on the machine, and has to work."""
