"""The app's store on disk: each run or upload is an entry, a folder with an unguessable name.

In: the name of an entry. Out: its folder, checked against its checksums. The app writes entries and
deletes old ones; this package is what the app and the commands of `bpe store` share.

Open `entries` first: it lists and deletes them. `manifest` holds their checksums, and `place` says
where the store is and what its names look like.
"""
