import TestKit
import Testing

/// The faults.
extension ToolTests.Page {
    @Test func `adds and removes a fault by keyboard`() async throws {
        let fixture = try await PageFixture()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        #expect(try await fixture.push(payload) == 200)
        try await fixture.browser.run("document.querySelector('#fault-skip').value = '1'")
        try await fixture.tab(to: "#fault-topic")
        try await fixture.browser.type("com.example.app")
        try await fixture.tab(to: "button[value='503']")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(until: "document.querySelector('#fault-list li')")
        #expect(try await fixture.push(payload) == 200)
        #expect(try await fixture.push(payload) == 503)
        #expect(try await fixture.push(payload, ["apns-topic: com.example.other"]) != 503)
        try await fixture.browser.wait(
            until: "document.querySelector('#fault-list .about').textContent.includes('applied once')")
        let words = try await fixture.browser.text("document.querySelector('#fault-list').innerText")
        #expect(words.contains("Answers 503 ServiceUnavailable"), "\(words)")
        #expect(words.contains("Requests to com.example.app · after 1 other"), "\(words)")

        try await fixture.tab(to: "#fault-list button")
        try await fixture.browser.press(.space)
        try await fixture.browser.wait(until: "!document.querySelector('#fault-list li')")
        #expect(try await fixture.push(payload) == 200)
        try await fixture.end()
    }

    @Test func `answers with any status and reason`() async throws {
        let fixture = try await PageFixture()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        for (status, reason, answer, words) in [
            ("", "TopicDisallowed", 400, "Answers 400 TopicDisallowed"), ("418", "Teapot", 418, "Answers 418 Teapot"),
            ("502", "", 502, "Answers 502"),
        ] {
            try await fixture.browser.run(
                """
                document.querySelector("#fault-status").value = "\(status)",
                document.querySelector("#fault-reason").value = "\(reason)"
                """)
            try await fixture.tab(to: "#fault-reason")
            try await fixture.browser.press(.enter)
            try await fixture.browser.wait(
                until: "document.querySelector('#fault-list').innerText.includes('\(words)')")
            #expect(try await fixture.push(payload) == answer)
            try await fixture.browser.run("document.querySelector('#fault-list button').click()")
            try await fixture.browser.wait(until: "!document.querySelector('#fault-list li')")
        }
        let reasons = "[...document.querySelectorAll('#fault-reasons option')].map((option) => option.value)"
        #expect(try await fixture.browser.holds("\(reasons).includes('BadTopic')"))
        try await fixture.end()
    }

    @Test func `tells why a fault was refused`() async throws {
        let fixture = try await PageFixture()
        try await fixture.tab(to: "#fault-topic")
        try await fixture.browser.type(String(repeating: "x", count: 300))
        try await fixture.tab(to: "button[value='silence']")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(until: "document.querySelector('#fault-outcome.failed')")
        let words = try await fixture.browser.text("document.querySelector('#fault-outcome').textContent")
        #expect(words.hasPrefix("Failed: ") && words.contains("topic"), "\(words)")
        #expect(try await fixture.browser.holds("!document.querySelector('#fault-list li')"))
        for scheme in Browser.Scheme.allCases {
            try await fixture.browser.prefer(scheme)
            #expect(try await fixture.browser.text(Contrast.belowLimit) == "", "\(scheme)")
            try await fixture.writePicture("failure-\(scheme)")
        }
        try await fixture.end(complains: true)
    }
}
