# SPDX-License-Identifier: GPL-2.0
"""What the sources say of the netlink family, read without a compiler."""

import re
import subprocess

import yaml

LIMITS = {
    "S64_MAX": 2 ** 63 - 1,
    "INT64_MAX": 2 ** 63 - 1,
    "s64-max": 2 ** 63 - 1,
    "sizeof(struct sockaddr_in)": 16,
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def c_name(*words):
    return "_".join(("RDMAMIG",) + words).replace("-", "_").upper()


def squeeze(text):
    return " ".join(text.split())


class Spec:
    """Documentation/netlink/specs/rdmamig.yaml"""

    path = "Documentation/netlink/specs/rdmamig.yaml"

    def __init__(self):
        doc = yaml.safe_load(read(self.path))
        self.name = doc["name"]
        self.version = doc.get("version", 1)
        self.consts = {}
        self.enums = {}
        for one in doc["definitions"]:
            if one["type"] == "const":
                self.consts[one["name"]] = one["value"]
            else:
                self.enums[one["name"]] = [
                    entry["name"] for entry in one["entries"]]
        self.sets = {
            one["name"]: {attr["name"]: attr for attr in one["attributes"]}
            for one in doc["attribute-sets"]}
        self.ops = {op["name"]: op for op in doc["operations"]["list"]}
        self.groups = [group["name"] for group in doc["mcast-groups"]["list"]]

    def attrs(self, op, *ways):
        """The attributes of an operation, as ("do", "request") and the like."""
        found = []
        for way, what in ways:
            body = (self.ops[op].get(way) or {}).get(what) or {}
            found += [name for name in body.get("attributes", [])
                      if name not in found]
        return found

    def requests(self, op):
        return self.attrs(op, ("do", "request"), ("dump", "request"))

    def replies(self, op):
        return self.attrs(op, ("do", "reply"), ("dump", "reply"))

    def range(self, set_name, attr):
        """(least, greatest) value of a number, None where it has none."""
        attr = self.sets[set_name][attr]
        checks = attr.get("checks", {})
        least, most = checks.get("min"), checks.get("max")
        if "enum" in attr:
            most = len(self.enums[attr["enum"]]) - 1
        return least, LIMITS.get(most, most)


class Header:
    """include/uapi/linux/rdmamig.h"""

    path = "include/uapi/linux/rdmamig.h"

    def __init__(self):
        text = read(self.path)
        self.consts = {
            name: int(value) for name, value in re.findall(
                r"^#define (RDMAMIG_\w+)\s+(\d+)\b", text, re.M)}
        self.strings = dict(re.findall(
            r'^#define (RDMAMIG_\w+)\s+"(\w+)"', text, re.M))
        self.enums = {}     # prefix or name -> [(name, value, comment)]
        for name, body in re.findall(r"^enum (\w* ?)\{\n(.*?)^\};", text,
                                     re.M | re.S):
            entries = list(self.entries(body))
            name = name.strip() or self.prefix(entries)
            self.enums[name] = entries

    @staticmethod
    def entries(body):
        value = 0
        for name, given, comment in re.findall(
                r"^\t(RDMAMIG_\w+)(?: = (\d+))?,?(?:\s*/\* (.*) \*/)?$",
                body, re.M):
            value = int(given) if given else value
            yield name, value, comment
            value += 1

    @staticmethod
    def prefix(entries):
        """RDMAMIG_A_SESSION or RDMAMIG_CMD, of an enum without a name."""
        words = entries[0][0].split("_")
        return "_".join(words[:2] if words[1] == "CMD" else words[:3])

    def value(self, word):
        """A number of C, by name or as it is."""
        word = word.strip()
        if word in LIMITS:
            return LIMITS[word]
        if word in self.consts:
            return self.consts[word]
        for entries in self.enums.values():
            for name, value, _ in entries:
                if name == word:
                    return value
        return int(word, 0) if re.fullmatch(r"\w+", word) and \
            word[0].isdigit() else None


class Family:
    """The policies, operations and answers in kmod/netlink*.c."""

    def __init__(self, paths, header):
        text = "\n".join(read(path) for path in paths)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.header = header
        self.ranges = {
            name: self.bounds(body) for name, body in re.findall(
                r"struct netlink_range_validation (\w+) = \{(.*?)\};",
                text, re.S)}
        # get_u32_range(info, ATTRIBUTE, "words", least, most, ...)
        self.by_hand = {
            attr: (header.value(least), header.value(most))
            for attr, least, most in re.findall(
                r'get_u32_range\(info, (RDMAMIG_\w+),\s*"[^"]*",\s*(\w+),\s*'
                r"(\w+),", text)}
        macros = {
            name: body.replace("\\\n", "\n") for name, body in re.findall(
                r"^#define (\w+)\s*\\\n((?:.*\\\n)*.*)$", text, re.M)
            if "[RDMAMIG_A_" in body}
        self.policies = {}
        for name, last, body in re.findall(
                r"struct nla_policy (\w+)\[(\w+) \+ 1\] = \{(.*?)\n\};",
                text, re.S):
            for macro, words in macros.items():
                body = re.sub(rf"\b{macro}\b", lambda _, w=words: w, body)
            self.policies[name] = (last, self.entries(body))
        self.ops = {
            op: [squeeze(word) for word in rest.split(",")]
            for op, rest in re.findall(
                r"^\tOP\((\w+), ([^()]*)\),", text, re.M)}
        puts = re.findall(
            r"\b(?:nla_put\w*|PUT_U64|\w+_put_addr)\(\s*\w+,\s*"
            r"(RDMAMIG_A_\w+)", text)
        puts += ["RDMAMIG_A_STATS_" + name
                 for name in re.findall(r"\bSTAT\(([A-Z_]+),", text)]
        self.puts = set(puts)
        self.groups = re.findall(r"\.name = (RDMAMIG_MCGRP_\w+)", text)
        self.commands = set(re.findall(r"\bRDMAMIG_CMD_\w+", text))

    def bounds(self, body):
        got = dict(re.findall(r"\.(min|max) = (\w+)", body))
        return tuple(self.header.value(got[end]) if end in got else None
                     for end in ("min", "max"))

    @staticmethod
    def entries(body):
        """attribute -> the words of its policy"""
        parts = re.split(r"\[(RDMAMIG_A_\w+)\]\s*=\s*", body)[1:]
        return {attr: squeeze(words).rstrip(", ")
                for attr, words in zip(parts[::2], parts[1::2])}

    def policy(self, attr, words):
        """What a policy allows: type, least, most, min-len, max-len, nested."""
        got = {"min": None, "max": None, "min-len": None, "max-len": None}
        if match := re.fullmatch(
                r"\{ \.type = NLA_(\w+)(?:, \.len = (\w+))? \}", words):
            got["type"] = match[1]
            if match[2]:
                got["max-len"] = self.header.value(match[2])
        elif match := re.fullmatch(r"NLA_POLICY_MAX\(NLA_(\w+), (.*)\)", words):
            got["type"] = match[1]
            got["max"] = self.header.value(match[2])
        elif match := re.fullmatch(
                r"NLA_POLICY_FULL_RANGE\(NLA_(\w+),\s*&(\w+)\)", words):
            got["type"] = match[1]
            got["min"], got["max"] = self.ranges[match[2]]
        elif match := re.fullmatch(r"NLA_POLICY_MIN_LEN\((.*)\)", words):
            got["type"] = "BINARY"
            got["min-len"] = self.header.value(match[1])
        elif match := re.fullmatch(r"NLA_POLICY_NESTED\((\w+)\)", words):
            got["type"] = "NESTED"
            got["nested"] = match[1]
        else:
            return None
        if attr in self.by_hand:
            got["min"], got["max"] = self.by_hand[attr]
        return got


class Tool:
    """What tools/rdmamigctl prints and takes."""

    dir = "tools/rdmamigctl/"

    def __init__(self, paths, header):
        names = read(self.dir + "names.c")
        tables = read(self.dir + "tables.c")
        main = read(self.dir + "main.c")
        self.words = {
            name: re.findall(r'"([^"]*)"', body) for name, body in re.findall(
                r"^static const char \*const (\w+)\[\] = \{(.*?)\};", names,
                re.M | re.S)}
        self.keywords = dict(re.findall(
            r'\[(RDMAMIG_A_\w+)\]\s*= "([^"]*)"', names))
        letters = dict(re.findall(
            r"^#define (\w)\(_attr\)\s+(RDMAMIG_A_\w+_)##_attr", tables, re.M))
        self.fields = []    # (table, attribute, key, names of its words)
        for table, body in re.findall(
                r"^static const struct out_field (\w+)_fields\[\] = \{(.*?)\};",
                tables, re.M | re.S):
            for letter, attr, key, rest in re.findall(
                    r'^\t[FW]\((\w)\((\w+)\), "([^"]+)", (.*)\),$', body, re.M):
                words = re.search(r"&(\w+)_names", rest)
                self.fields.append((table, letters[letter] + attr, key,
                                    words and words[1]))
        self.knobs = [self.knob(body, header) for body in re.findall(
            r"^\t\[KNOB_\w+\] = \{(.*?)^\t\},", read(self.dir + "knobs.c"),
            re.M | re.S)]
        macros = dict(re.findall(r'^#define (\w+)\s+"([^"]*)"$', main, re.M))
        self.commands = {}  # name -> synopsis
        for name, synopsis in re.findall(
                r'^\t\{ "([\w-]+)", cmd_\w+, ((?:\w+|"[^"]*")'
                r'(?: (?:\w+|"[^"]*"))*),', main, re.M):
            self.commands[name] = squeeze("".join(
                macros.get(word, word.strip('"'))
                for word in re.findall(r'"[^"]*"|\w+', synopsis)))
        self.options = re.findall(
            r'\{ "(--\w+)", \'(\w)\' \}', main) + [("--color", "")]
        self.exits = [
            int(value) for value in re.findall(
                r"^\tEXIT_\w+\s+= (\d+),", read(self.dir + "rdmamigctl.h"),
                re.M)]
        self.uses = set()
        for path in paths:
            if path.endswith("/names.c"):
                continue
            self.uses |= set(re.findall(r"\bRDMAMIG_CMD_\w+", read(path)))

    @staticmethod
    def knob(body, header):
        one = dict(re.findall(r'\.(\w+) = "?([^",]+)"?,', body))
        for end in ("min", "max"):
            one[end] = header.value(one[end]) if end in one else None
        return one


class Page:
    """The manual page as one reads it."""

    path = "Documentation/man/rdmamigctl.8"

    def __init__(self):
        run = subprocess.run(
            f"mandoc -Tascii -Owidth=200 {self.path} | col -bx", shell=True,
            check=True, capture_output=True, text=True)
        self.sections = {}
        name = None
        for line in run.stdout.splitlines():
            if re.match(r"( {3})?\S", line):
                name = line.strip()
                self.sections[name] = []
            elif name:
                self.sections[name].append(line)

    def lines(self, section):
        """The lines of a section that stand out to the left."""
        return [squeeze(line) for line in self.sections[section]
                if re.match(r" {7}\S", line)]

    def heads(self, section):
        """Their first words, where a text begins on the same line."""
        return [re.split(r"\s{2,}", line.strip())[0]
                for line in self.sections[section] if re.match(r" {7}\S", line)]

    def rows(self, section, columns=2):
        """The rows of its tables, by what is in the first column."""
        rows = {}
        for line in self.sections[section]:
            cells = re.split(r"\s{2,}", line.strip())
            if re.match(r" {7}\S", line) and len(cells) == columns:
                rows[cells[0]] = cells[1:]
        return rows


def completion(*words):
    """What bash offers behind the given words of a command line."""
    script = """
        . tools/rdmamigctl/rdmamigctl.bash-completion
        rdmamigctl() { :; }
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _rdmamigctl
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    run = subprocess.run(["bash", "-c", script, "bash", "rdmamigctl", *words],
                         check=True, capture_output=True, text=True)
    return run.stdout.split()
