// Reads the stubs' answers with npm's openai and with the Vercel AI SDK; prints what they made of them as one JSON object.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

const [good, bad] = process.argv.slice(2);
const messages = [{ role: "user", content: "hi" }];
const said = {};

const client = new OpenAI({ baseURL: `${good}/v1`, apiKey: "none" });
const whole = await client.chat.completions.create({ model: "m", messages });
said.chat = whole.choices[0].message;
const stream = client.chat.completions.stream({ model: "m", messages, stream_options: { include_usage: true } });
const joined = await stream.finalChatCompletion();
said.chatStream = { message: joined.choices[0].message, usage: joined.usage };
said.response = (await client.responses.create({ model: "m", input: "hi" })).output_text;
const events = [];
for await (const event of await client.responses.create({ model: "m", input: "hi", stream: true })) events.push(event);
said.responseStream = {
  types: [events[0].type, events.at(-1).type],
  text: events.filter((e) => e.type === "response.output_text.delta").map((e) => e.delta).join(""),
};
const vectors = await client.embeddings.create({ model: "e", input: "a" });
said.vector = Array.from(vectors.data[0].embedding);

const vercel = createOpenAI({ baseURL: `${good}/v1`, apiKey: "none" });
for (const [name, model] of [["vercelChat", vercel.chat("m")], ["vercelResponses", vercel.responses("m")]]) {
  const got = await generateText({ model, messages });
  const flowing = streamText({ model, messages });
  let text = "";
  for await (const piece of flowing.textStream) text += piece;
  said[name] = {
    text: got.text, reason: got.finishReason, calls: got.toolCalls.map((c) => c.toolName), streamed: text,
    streamedReason: await flowing.finishReason, streamedCalls: (await flowing.toolCalls).map((c) => c.toolName),
  };
}

const refused = new OpenAI({ baseURL: `${bad}/v1`, apiKey: "none" });
said.refusal = await refused.chat.completions.create({ model: "m", messages }).catch((e) => `${e.constructor.name}: ${e.message}`);
const refusedVercel = createOpenAI({ baseURL: `${bad}/v1`, apiKey: "none" });
said.vercelRefusal = await generateText({ model: refusedVercel.chat("m"), messages }).catch((e) => e.message);
console.log(JSON.stringify(said));
