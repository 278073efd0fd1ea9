// Calls of OpenAI's npm package to the server at the given address; prints what came of them as one line of JSON.
//
//   node calls.mjs URL every          each call once
//   node calls.mjs URL speak OPTIONS  one call to speak; OPTIONS is JSON: client, request and text, all optional

import OpenAI, { toFile } from "openai";

const [url, deed, options = "{}"] = process.argv.slice(2);
const base = { baseURL: `${url}/v1`, apiKey: "none" };
const TEXT = "The morning train leaves at nine.";

function base64(bytes) {
  return Buffer.from(bytes).toString("base64");
}

async function piecesOf(response) {
  const pieces = [];
  for await (const piece of response.body) pieces.push(piece);
  return pieces;
}

async function speech(client) {
  const asked = { model: "tts-1", voice: "alloy", input: TEXT };
  const whole = await client.audio.speech.create({ ...asked, response_format: "wav" });
  const streamed = await client.audio.speech.create({ ...asked, response_format: "pcm" });
  const pieces = await piecesOf(streamed);
  const events = await client.audio.speech.create({
    ...asked,
    model: "gpt-4o-mini-tts",
    response_format: "pcm",
    stream_format: "sse",
  });
  return {
    wav: base64(await whole.arrayBuffer()),
    type: whole.headers.get("content-type"),
    pcm: base64(Buffer.concat(pieces)),
    pieces: pieces.length,
    events: Buffer.concat(await piecesOf(events)).toString(),
  };
}

async function transcription(client, wav) {
  const heard = async (fields) =>
    client.audio.transcriptions.create({
      file: await toFile(Buffer.from(wav, "base64"), "speech.wav"),
      model: "whisper-1",
      ...fields,
    });
  const streamed = [];
  for await (const event of await heard({ model: "gpt-4o-transcribe", stream: true })) streamed.push(event);
  return {
    json: await heard({}),
    srt: await heard({ response_format: "srt" }),
    verbose: await heard({
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    }),
    streamed,
  };
}

async function models(client) {
  const listed = [];
  for await (const model of client.models.list()) listed.push(model);
  return { listed, one: await client.models.retrieve("whisper-1") };
}

async function failureOf(promise) {
  try {
    await promise;
    return null;
  } catch (error) {
    return failure(error);
  }
}

function failure(error) {
  return {
    kind: error.constructor.name,
    status: error.status ?? null,
    code: error.code ?? null,
    param: error.param ?? null,
    job: error.headers?.get("x-yue2-job-id") ?? null,
    request: error.requestID ?? null,
    message: error.message,
  };
}

async function every() {
  const client = new OpenAI({ ...base, maxRetries: 0 });
  const spoken = await speech(client);
  return {
    speech: spoken,
    transcription: await transcription(client, spoken.wav),
    models: await models(client),
    missing: await failureOf(client.models.retrieve("gpt-9")),
    refused: await failureOf(
      client.audio.speech.create({ model: "tts-1", voice: "nobody", input: TEXT }),
    ),
  };
}

async function speak({ client: settings = {}, request = {}, text = "One two. Three four." }) {
  const client = new OpenAI({ ...base, ...settings });
  const asked = { model: "tts-1", voice: "alloy", input: text, response_format: "wav" };
  try {
    const response = await client.audio.speech.create(asked, request);
    return { job: response.headers.get("x-yue2-job-id"), wav: base64(await response.arrayBuffer()) };
  } catch (error) {
    return { failure: failure(error) };
  }
}

const done = deed === "every" ? await every() : await speak(JSON.parse(options));
console.log(JSON.stringify(done));
