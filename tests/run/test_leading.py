"""A program that has its provider's address in the code is answered all the same; whatever is no request to a model is not."""

import json
import sys

import pytest

from otelreplay.run.leading import led
from otelreplay.stubs.routes import is_of_a_model
from tests.run.test_unprepared import converted, replayed, trace

STUB = "http://127.0.0.1:9/token"
BODY = """
ASKED = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Where is A1? I am jo@example.com."}]
BODY = {"model": "m-1", "temperature": 0.5, "messages": ASKED}
def more(said):
    return [*ASKED, {"role": "assistant", "content": said}, {"role": "user", "content": "Thanks."}]
"""
WAYS = {
    "openai": """
import openai
client = openai.OpenAI(base_url="https://llm.example.com/v1", api_key="k")
first = client.chat.completions.create(**BODY).choices[0].message.content
print(first)
print(client.chat.completions.create(**BODY | {"messages": more(first)}).choices[0].message.content)
""",
    "openai, async, behind a proxy": """
import asyncio, httpx, openai
async def main():
    http = openai.DefaultAsyncHttpxClient(proxy="http://proxy.example.com:3128")
    client = openai.AsyncOpenAI(base_url="https://llm.example.com/api/v1", api_key="k", http_client=http)
    first = (await client.chat.completions.create(**BODY)).choices[0].message.content
    print(first)
    print((await client.chat.completions.create(**BODY | {"messages": more(first)})).choices[0].message.content)
asyncio.run(main())
""",
    "azure": """
import openai
client = openai.AzureOpenAI(azure_endpoint="https://desk.openai.azure.com", api_key="k", api_version="2024-10-21")
first = client.chat.completions.create(**BODY).choices[0].message.content
print(first)
print(client.chat.completions.create(**BODY | {"messages": more(first)}).choices[0].message.content)
""",
    "requests": """
import requests
def ask(body):
    got = requests.post("https://llm.example.com/v1/chat/completions", json=body, proxies={"https": "http://proxy.example.com:1"})
    assert got.url == "https://llm.example.com/v1/chat/completions"
    return got.json()["choices"][0]["message"]["content"]
first = ask(BODY)
print(first)
print(ask(BODY | {"messages": more(first)}))
""",
    "aiohttp": """
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession("https://llm.example.com", headers={"authorization": "k"}) as session:
        async def ask(body):
            async with session.post("/v1/chat/completions", json=body, ssl=False) as got:
                return (await got.json())["choices"][0]["message"]["content"]
        first = await ask(BODY)
        print(first)
        print(await ask(BODY | {"messages": more(first)}))
asyncio.run(main())
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_request_to_a_model_is_answered_whatever_the_address(desk, way):
    desk.write("agent.py", BODY + WAYS[way])
    done, report = replayed(desk, converted(desk, trace()), (sys.executable, "agent.py"))
    assert ("as_recorded", 2, []) == (report["outcome"], report["served"], report["blocked"])
    assert done.out.splitlines()[1] == "Bye."
    host = "desk.openai.azure.com" if way == "azure" else "llm.example.com"
    assert report["notes"] == [f"requests to {host} were answered here"]


def test_a_changed_request_to_such_an_address_is_a_divergence_and_not_a_live_call(desk):
    desk.write("agent.py", BODY + WAYS["openai"].replace("create(**BODY)", "create(**BODY | {'temperature': 0.7})"))
    done, report = replayed(desk, converted(desk, trace()), (sys.executable, "agent.py"), expect=1)
    first = report["first_divergence"]
    assert (first["kind"], first["path"]) == ("request_changed", "request.params.temperature")
    assert "BadRequestError" in done.err


def test_what_is_no_request_to_a_model_meets_the_guard(desk):
    desk.write("agent.py", "import httpx\nhttpx.post('https://mail.example.com/v1/send', json={})\n")
    _, report = replayed(desk, converted(desk, trace()), (sys.executable, "agent.py"), expect=4)
    assert "mail.example.com" in report["blocked"][0]["target"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/chat/completions", "/openai/deployments/d/chat/completions", "/api/v1/responses", "/v1/messages",
        "/openai/responses", "/v1beta/models/g-1:generateContent", "/v1/models/g:streamGenerateContent", "/v1/embeddings/",
        "/openai/deployments/d/embeddings",
    ],
)  # fmt: skip
def test_paths_of_a_models_api(path):
    assert is_of_a_model(path)
    assert led(STUB, "POST", f"https://a.example{path}?x=1") == f"{STUB}/meant{path}?x=1"


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("GET", "https://a.example/v1/chat/completions"), ("POST", "https://a.example/channels/7/messages"),
        ("POST", "https://a.example/v1/models"), ("POST", f"{STUB}/openai/v1/chat/completions"), ("POST", "ftp://a/v1/messages"),
        ("POST", "https://a.example/messages"), ("POST", "/v1/messages"),
    ],
)  # fmt: skip
def test_everything_else_goes_where_it_was_going(method, url):
    assert led(STUB, method, url) == ""


def test_node_knows_the_same_paths():
    from otelreplay.run.supervisor import STARTUP
    from otelreplay.stubs import routes

    text = (STARTUP / "preload.cjs").read_text(encoding="utf-8")
    pieces = json.loads(
        "["
        + ",".join(
            line.strip().rstrip("+,").strip()
            for line in text.split("new RegExp(")[1].split(");")[0].splitlines()
            if line.strip()
        )
        + "]"
    )
    assert "".join(pieces) == routes._MODELS.pattern
