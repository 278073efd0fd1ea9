"""What can go wrong in a result store.

StorageError
├── StoreFull      files or bytes are at the limit; nothing was written
├── ResultTooLarge one result is over the limit of a single file
├── DiskFull       the volume itself is out of space
├── UnknownEntry   no such id, or one that is forgotten
├── EntryExpired   it was there; it expired or was deleted
├── NotStored      it is accepted or has ended, but there is no result to read
└── OutputLocked   another process holds the output folder
"""

MAKING_ROOM = "delete some that you no longer need, or wait until older ones expire."


class StorageError(Exception):
    """Root of the storage errors; the text of each is a sentence fit for a user."""


class StoreFull(StorageError):
    """Files or bytes of the whole store are at their limit, or would be over it; nothing more was written.

    `advice` ends the sentence with how to make room in that store.
    """

    def __init__(
        self, files: int, max_files: int, used_bytes: int, max_bytes: int, advice: str = MAKING_ROOM
    ) -> None:
        super().__init__(
            f"There is no room left for this among the results, which take {files} of {max_files} files and "
            f"{used_bytes} of {max_bytes} bytes; {advice}"
        )


class ResultTooLarge(StorageError):
    """One result would be over the limit of a single file."""

    def __init__(self, max_file_bytes: int) -> None:
        super().__init__(
            f"The result would be larger than the {max_file_bytes} bytes one result may have; "
            "ask for a shorter piece, fewer tracks or a smaller format."
        )


class DiskFull(StorageError):
    """The volume has no space, no quota or no room for a file of this size left."""

    def __init__(self) -> None:
        super().__init__("The volume that keeps the results has no space left; free some and try again.")


class UnknownEntry(StorageError):
    """No entry has this id, or it was forgotten; `id` is the id asked for, `sentence` for whoever sent no id."""

    def __init__(self, id: str, sentence: str = "") -> None:
        super().__init__(sentence or "Nothing is known under this id; check it, or submit the request again.")
        self.id = id


class EntryExpired(StorageError):
    """The entry expired or was deleted; `id` is the id asked for, `owner` whose it was."""

    def __init__(self, id: str, owner: str = "") -> None:
        super().__init__("This result expired or was deleted; submit the request again to get a new one.")
        self.id = id
        self.owner = owner


class NotStored(StorageError):
    """There is no result to read under this id; `id` is the id asked for."""

    def __init__(self, id: str, message: str) -> None:
        super().__init__(message)
        self.id = id


class OutputLocked(StorageError):
    """Another process holds the output folder; `holder` is what it said about itself."""

    def __init__(self, directory: str, holder: str) -> None:
        super().__init__(
            f"The output folder {directory} is in use by {holder}; "
            "stop that server first or give this one a folder of its own."
        )
        self.holder = holder
