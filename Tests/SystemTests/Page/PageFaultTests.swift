import TestKit
import Testing

/// The faults.
extension ToolTests.Page {
    @Test func `adds and removes a fault by keyboard`() async throws {
        let stage = try await PageStage()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        #expect(try await stage.push(payload) == 200)
        try await stage.browser.run("document.querySelector('#fault-skip').value = '1'")
        try await stage.tab(to: "#fault-topic")
        try await stage.browser.type("com.example.app")
        try await stage.tab(to: "button[value='503']")
        try await stage.browser.press(.enter)
        try await stage.browser.wait(until: "document.querySelector('#fault-list li')")
        #expect(try await stage.push(payload) == 200)
        #expect(try await stage.push(payload) == 503)
        #expect(try await stage.push(payload, ["apns-topic: com.example.other"]) != 503)
        try await stage.browser.wait(
            until: "document.querySelector('#fault-list .about').textContent.includes('struck once')")
        let words = try await stage.browser.text("document.querySelector('#fault-list').innerText")
        #expect(words.contains("Answers 503 ServiceUnavailable"), "\(words)")
        #expect(words.contains("Requests to com.example.app · after 1 other"), "\(words)")

        try await stage.tab(to: "#fault-list button")
        try await stage.browser.press(.space)
        try await stage.browser.wait(until: "!document.querySelector('#fault-list li')")
        #expect(try await stage.push(payload) == 200)
        try await stage.end()
    }

    @Test func `answers with any status and reason`() async throws {
        let stage = try await PageStage()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        for (status, reason, answer, words) in [
            ("", "TopicDisallowed", 400, "Answers 400 TopicDisallowed"), ("418", "Teapot", 418, "Answers 418 Teapot"),
            ("502", "", 502, "Answers 502"),
        ] {
            try await stage.browser.run(
                """
                document.querySelector("#fault-status").value = "\(status)",
                document.querySelector("#fault-reason").value = "\(reason)"
                """)
            try await stage.tab(to: "#fault-reason")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(
                until: "document.querySelector('#fault-list').innerText.includes('\(words)')")
            #expect(try await stage.push(payload) == answer)
            try await stage.browser.run("document.querySelector('#fault-list button').click()")
            try await stage.browser.wait(until: "!document.querySelector('#fault-list li')")
        }
        let reasons = "[...document.querySelectorAll('#fault-reasons option')].map((option) => option.value)"
        #expect(try await stage.browser.holds("\(reasons).includes('BadTopic')"))
        try await stage.end()
    }

    @Test func `tells why a fault was refused`() async throws {
        let stage = try await PageStage()
        try await stage.tab(to: "#fault-topic")
        try await stage.browser.type(String(repeating: "x", count: 300))
        try await stage.tab(to: "button[value='silence']")
        try await stage.browser.press(.enter)
        try await stage.browser.wait(until: "document.querySelector('#fault-outcome.failed')")
        let words = try await stage.browser.text("document.querySelector('#fault-outcome').textContent")
        #expect(words.hasPrefix("That failed: ") && words.contains("topic"), "\(words)")
        #expect(try await stage.browser.holds("!document.querySelector('#fault-list li')"))
        for scheme in Browser.Scheme.allCases {
            try await stage.browser.prefer(scheme)
            #expect(try await stage.browser.text(Contrast.belowLimit) == "", "\(scheme)")
            try await stage.writePicture("failure-\(scheme)")
        }
        try await stage.end(complains: true)
    }
}
