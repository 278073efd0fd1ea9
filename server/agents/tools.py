"""The tools that an agent sees: names, descriptions and hints. What they take lies in `arguments`.

A description is all that an agent knows before its first call, so each says what comes back and what to call next.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ToolCard:
    """How one tool is listed; the hints are those of MCP, for clients that ask a person before some calls."""

    name: str
    title: str
    description: str
    read_only: bool = False  # changes nothing
    destructive: bool = False  # may undo or remove something
    idempotent: bool = False  # the same call again changes nothing more
    open_world: bool = False  # reaches out of this server


INSTRUCTIONS: Final = """\
This server makes songs, scores, spoken audio and transcripts.

Work takes time, so create_song, plan_score, preview_score, speak and transcribe answer at once with a job_id. Then call \
job_status with that job_id and wait_seconds 45, and again until state is complete, failed or cancelled. A finished job \
has a link to its one file, which works without a key for one hour: give it to the user, or have it downloaded before then.

For a song, write a style (genre, mood, tempo, instruments, voice) and lyrics with headings such as [Verse] and [Chorus], \
and call create_song; writing_guide tells what sings well. To shape a song note by note: plan_score, edit the score, hear \
it with preview_score, then create_song with the edited score as abc.

One job runs at a time, and at most eight jobs of agents may be unfinished. Where a call answers queue_full, nothing was \
queued: wait as many seconds as it says and call again. Send an idempotency_key with calls that you may have to repeat."""

_JOB: Final = (
    "Answers at once with a job_id. Then call job_status with it and wait_seconds 45, again until state is complete: "
    "it then has a link to the file, good for one hour without a key; give it to the user."
)

TOOLS: Final = (
    ToolCard(
        "create_song",
        "Make a song",
        f"""\
Makes a whole song, sung and played, as one audio file, from a style and lyrics or from a score in abc. {_JOB}

Example: {{"style": "folk, warm, 92 BPM, acoustic guitar, female voice", "lyrics": "[Verse]\\nThe lamps are lit along the \
quay\\nThe boats come home tonight\\n\\n[Chorus]\\nCarry me over the water\\nCarry me home again", "title": "Harbour Lamps"}}

Write lyrics as short lines of four to eight syllables, with [Verse], [Chorus], [Bridge] or the like alone on a line \
before each section, and nothing in them that is not sung. Their length decides the song's, about 5 seconds a line, \
plus some 10 for intro and ending. For an \
instrumental leave lyrics out and put instrumental into the style. For another tune with the same words call again with \
another lm_seed. writing_guide tells all that style and lyrics may say; to change single notes or words, begin with \
plan_score.""",
    ),
    ToolCard(
        "plan_score",
        "Write the score of a song",
        """\
Composes a song of a style and lyrics without performing it, and gives its score as ABC text, which you can read and edit. \
Quick. Answers at once with a job_id; call job_status with it and wait_seconds 45 until state is complete: the score is in \
that answer.

Example: {"style": "jazz, 126 BPM, piano, upright bass", "lyrics": "[Verse]\\nMidnight on the avenue\\nNobody but me", \
"lm_seed": 7}

Next: edit the text (writing_guide with topic score tells how), hear it with preview_score, then call create_song with the \
text as abc and the same style and lyrics. Not needed for a song that is to be made as it comes: call create_song at once.""",
    ),
    ToolCard(
        "preview_score",
        "Hear a score",
        f"""\
Plays a score in ABC, or some bars of it, with the server's built-in band, whichever model will sing it later: the quick \
way to check an edit, and it sings the words below the notes (w: lines). A score that cannot be read is refused as \
invalid_score with line and column; mend that place and call again. {_JOB}

Example: {{"abc": "X:1\\nM:4/4\\nL:1/8\\nQ:1/4=92\\nV: Vocal\\nV: Ins\\nK:G\\nV: Vocal\\n\\"G\\"G4 A2 G2|\\"D\\"A6 z2|\\nw: \
Car-ry me home\\nV: Ins\\nZ2|\\n", "style": "folk, acoustic guitar", "from_bar": 1, "bars": 2}}

style chooses instruments and voice; tempo, metre and key are the score's. Without abc, style and lyrics are composed and \
previewed. When it sounds right, call create_song with the same abc, style and lyrics. writing_guide with topic score \
has a whole score to start from.""",
    ),
    ToolCard(
        "speak",
        "Read text aloud",
        f"""\
Reads text aloud, as one audio file of a single voice: narration, announcements, a spoken message. {_JOB}

Example: {{"text": "Good morning! It is half past seven, and the kettle is on.", "speed": 1.0, "title": "Good Morning"}}

Write plain sentences with punctuation; numbers, dates and abbreviations are read as words, so no markup is needed. \
list_models tells the voices and their languages. For words that are to be sung use create_song.""",
    ),
    ToolCard(
        "transcribe",
        "Write down a recording",
        """\
Writes down the words of a finished job's audio: what a song, preview or speech really sings or says. Use it to check that \
words can be understood, or for subtitles. job_id is of that finished job; the transcript is a job of its own. Answers at \
once with a new job_id; call job_status with the new one and wait_seconds 45 until state is complete: the text is in that \
answer, with a link to the file, good for one hour without a key.

Example: {"job_id": "3f9c0a12b4d5e6f7", "format": "srt", "language": "en"}

format: text (the default), json with the time of each word, or srt or vtt for subtitles. For a song send its lyrics as \
prompt; else names that may be misheard. A file that you have is sent to POST /mcp/transcribe, where you can upload.""",
    ),
    ToolCard(
        "job_status",
        "Wait for a job",
        """\
Tells how a job is and, once it is complete, gives its result. With wait_seconds 45 it answers as soon as the job ends, or \
after 45 seconds: call it again while state is queued or generating, rather than asking often with no wait.

Example: {"job_id": "3f9c0a12b4d5e6f7", "wait_seconds": 45}

state is queued (with queue_position), generating (with phase, progress from 0 to 1 and eta_seconds), complete, failed \
(with code and error that say what to change) or cancelled. complete has url, file_name, size_bytes and expires_at, one \
hour after the job ended; scores and transcripts (up to 64 KiB) stand in the answer itself. Give the url to the user as it \
is. notes say what turned out otherwise than asked for, and the seeds that make the same again.""",
        read_only=True,
        idempotent=True,
    ),
    ToolCard(
        "cancel_job",
        "Cancel a job",
        """\
Stops a job that is waiting or running and gives its place in the queue free. What it had made is lost. A finished job \
stays as it is, and so does its file.

Example: {"job_id": "3f9c0a12b4d5e6f7"}

Answers the state: cancelled for one that was waiting; generating for one that is being stopped and will be cancelled \
within moments; else its end. Use it when the user no longer wants the result, or before asking for the same thing \
otherwise.""",
        destructive=True,
        idempotent=True,
    ),
    ToolCard(
        "list_models",
        "List models and voices",
        """\
Lists the models that this server has: for songs, speech and transcripts, with their languages, the voices of those that \
speak, and which one is taken where no model is named. Takes no arguments and changes nothing.

Call it before you name a model or a voice in another tool, or to tell the user what can be made here. sketch, the built-in \
band with a synthetic English singer, is always there; yue2, where it is set up, sings more naturally and in any language. \
Most calls need no model: leave it out.""",
        read_only=True,
        idempotent=True,
    ),
    ToolCard(
        "server_status",
        "See how busy the server is",
        """\
Tells how many jobs wait or run, how many of the eight places for agents' jobs are free, and how much room is left for \
their files, which are removed an hour after they were made. Takes no arguments, changes nothing and answers at once, also \
while everything is full.

Call it after a refusal such as queue_full or result_store_full, or before asking for many things. For one job's progress \
call job_status instead.""",
        read_only=True,
        idempotent=True,
    ),
    ToolCard(
        "writing_guide",
        "Read a writing guide",
        """\
Gives a short guide with examples. Read the one that you need before your first request of its kind:
- lyrics: sections, lines that sing well, repeats, how long a song gets, and how to correct one.
- style: every genre, instrument, mood, tempo and voice that is understood.
- score: the ABC notation of songs, a whole example to start from, and common edits.

Example: {"topic": "score"}

They are also resources: yue2://guide/lyrics, yue2://guide/style-vocabulary, yue2://guide/score-dialect. Answers at once \
and changes nothing.""",
        read_only=True,
        idempotent=True,
    ),
)
