import TestKit
import Testing

/// Tests of saved runs.
extension ToolTests.Page {
    @Test func `opens a saved run`() async throws {
        let directory = try TemporaryDirectory("record")
        let file = directory.file("run.jsonl")
        let before = try await PageFixture("--gate", "off", "--record", file, "--record-detail", "full")
        try await before.push(#"{"aps":{"alert":"One"}}"#)
        try await before.load(600)
        try await before.end()

        let fixture = try await PageFixture()
        try await fixture.push(#"{"aps":{"alert":"Of this one"}}"#)
        try await fixture.browser.choose(file: file, in: "#record-file")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 601")
        let last = "[...document.querySelectorAll('#rows .opener')].at(-1)"
        #expect(try await fixture.browser.text("\(last).textContent") == "One")
        #expect(try await fixture.browser.text("document.querySelector('#link-text').textContent") == "run.jsonl")
        #expect(try await fixture.browser.holds("!document.querySelector('#older').checkVisibility()"))
        try await fixture.browser.run("\(last).click()")
        #expect(try await fixture.browser.holds("!document.querySelector('.acts').checkVisibility()"))
        try await fixture.browser.run("document.querySelector('#detail').close()")

        let summary = try directory.write("summary.jsonl", #"{"number":1}"# + "\n")
        for (file, words) in [
            (try directory.write("no.jsonl", "{}\n"), "line 1"), (summary, "--record-detail full"),
            (
                try directory.write(
                    "shape.jsonl",
                    #"{"number":1,"unix_ms":1,"connection":1,"stream":1,"payload_bytes":0,"headers":[null]}"# + "\n"
                ),
                "is not a request"
            ),
        ] {
            try await fixture.browser.choose(file: file, in: "#record-file")
            try await fixture.browser.wait(
                until: "document.querySelector('#record-outcome').textContent.includes('\(words)')")
        }
        #expect(try await fixture.browser.number("document.querySelectorAll('#rows .row').length") == 601)
        // A truncated file, as after a full disk or while the simulator is still writing.
        let cut = try directory.write("cut.jsonl", try directory.read("run.jsonl").prefix(4000).description)
        try await fixture.browser.choose(file: cut, in: "#record-file")
        try await fixture.browser.wait(
            until: "document.querySelector('#record-outcome').textContent.includes('The last line is incomplete')")
        #expect(try await fixture.browser.text("\(last).textContent") == "One")
        try await fixture.browser.choose(file: file, in: "#record-file")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 601")
        // This button returns to the live requests.
        try await fixture.browser.run("document.querySelector('#pause').click()")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        #expect(try await fixture.browser.text("\(last).textContent") == "Of this one")
        try await fixture.browser.choose(file: file, in: "#record-file")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 601")
        #expect(try await fixture.browser.text("document.querySelector('#record-file').value") == "")
        try await fixture.end()
    }
}
