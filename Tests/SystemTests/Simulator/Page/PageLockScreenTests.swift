import TestKit
import Testing

/// The lock screen.
extension ToolTests.Page {
    @Test func `shows a push as a lock screen would`() async throws {
        let fixture = try await PageFixture()
        #expect(try await fixture.browser.text("document.querySelector('#rows').textContent") == "")
        let status = try await fixture.push(
            #"{"aps":{"alert":{"title":"Storm warning","subtitle":"Hamburg","body":"Stay in — it is öde outside."},"#
                + #""badge":3,"sound":"default","interruption-level":"time-sensitive","thread-id":"north"}}"#,
            ["apns-topic: com.example.app"])
        #expect(status == 200)
        try await fixture.browser.wait(until: "document.querySelector('#stacks .card')")
        let card = "document.querySelector('#stacks .card')"
        #expect(try await fixture.browser.text("\(card).querySelector('.title').textContent") == "Storm warning")
        #expect(try await fixture.browser.text("\(card).querySelector('.subtitle').textContent") == "Hamburg")
        #expect(
            try await fixture.browser.text("\(card).querySelector('.body').textContent")
                == "Stay in — it is öde outside.")
        let whole = try await fixture.browser.text("\(card).textContent")
        for word in ["Example", "Time sensitive", "Badge 3", "Sound", "north", "00fc13ad…+8"] {
            #expect(whole.contains(word), "\(word) in \(whole)")
        }
        try await fixture.end()
    }

    @Test func `stacks a thread, and lets one push take another's place`() async throws {
        let fixture = try await PageFixture()
        for (title, thread) in [("One", "a"), ("Two", "a"), ("Other", "b"), ("Three", "a")] {
            try await fixture.push(#"{"aps":{"alert":{"title":"\#(title)"},"thread-id":"\#(thread)"}}"#)
        }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
        let titles = "JSON.stringify([...document.querySelectorAll('#stacks .title')].map((p) => p.textContent))"
        #expect(try await fixture.browser.text(titles) == #"["Three","Other"]"#)
        try await fixture.tab(to: ".more")
        try await fixture.browser.press(.enter)
        #expect(try await fixture.browser.text(titles) == #"["Three","Two","One","Other"]"#)
        #expect(try await fixture.browser.text("document.activeElement.textContent") == "Collapse")

        for score in ["0:0", "1:0"] {
            try await fixture.push(
                #"{"aps":{"event":"update","timestamp":1,"content-state":{"score":"\#(score)"}}}"#, to: "aa11",
                ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
        }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
        #expect(
            try await fixture.browser.number("document.querySelectorAll('.card.liveactivity').length") == 1)
        let activity = try await fixture.browser.text("document.querySelector('.card.liveactivity').textContent")
        #expect(activity.contains("1:0") && activity.contains("replaces 1 earlier one"), "\(activity)")
        try await fixture.end()
    }

    @Test func `tells devices apart whose tokens begin alike`() async throws {
        let fixture = try await PageFixture()
        let padding = String(repeating: "0", count: 62)
        for device in ["a1", "b2", "A1"] {
            try await fixture.push(
                #"{"aps":{"event":"update","timestamp":1,"content-state":{"for":"\#(device)"}}}"#,
                to: padding + device,
                ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
            try await fixture.push(
                #"{"aps":{"alert":"To \#(device)"}}"#, to: padding + device, ["apns-collapse-id: same"])
        }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
        try await fixture.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
        let activities =
            "[...document.querySelectorAll('.card.liveactivity .pairs dd')].map((dd) => dd.textContent)"
        #expect(try await fixture.browser.text("\(activities).join(' ')") == "A1 b2")
        let titles = "[...document.querySelectorAll('.card.alert .title')].map((title) => title.textContent)"
        #expect(try await fixture.browser.text("\(titles).join(', ')") == "To A1, To b2")

        // Each is suggested once, by names that differ.
        let names = "[...document.querySelectorAll('#devices option')].map((option) => option.value)"
        #expect(try await fixture.browser.number("new Set(\(names)).size") == 2)
        #expect(try await fixture.browser.holds("\(names).every((name) => name.startsWith('00000000…+56'))"))
        try await find("\(names)[1]", in: fixture)
        #expect(try await fixture.browser.text("\(titles).join(', ')") == "To b2")
        try await fixture.end()
    }

    @Test func `folds the Live Activities of many devices`() async throws {
        let fixture = try await PageFixture()
        for device in 10..<30 {
            try await fixture.push(
                #"{"aps":{"event":"update","timestamp":1,"content-state":{"n":1}}}"#, to: "aa\(device)",
                ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
        }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 20")
        let cards = "document.querySelectorAll('.card.liveactivity').length"
        #expect(try await fixture.browser.number(cards) == 1)
        #expect(
            try await fixture.browser.text("document.querySelector('.more').textContent") == "19 more from Example")
        try await find("document.querySelectorAll('#devices option')[2].value", in: fixture)
        #expect(try await fixture.browser.number(cards) == 1)
        #expect(try await fixture.browser.holds("document.querySelector('.more') === null"))
        try await fixture.end()
    }

    /// A part of a token finds all devices whose tokens have it.
    @Test func `finds devices by a part of their tokens`() async throws {
        let fixture = try await PageFixture()
        for device in ["aabb00010001", "aabb00010002", "ccdd00010001"] {
            try await fixture.push(#"{"aps":{"alert":"To \#(device)","thread-id":"\#(device)"}}"#, to: device)
        }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 3")
        let cards = "document.querySelectorAll('#stacks .card').length"
        for (text, count) in [("", 3), ("AABB", 2), ("ccdd", 1), ("ee", 0), ("", 3)] {
            try await find("'\(text)'", in: fixture)
            #expect(try await fixture.browser.number(cards) == count, "\(text)")
        }
        try await fixture.end()
    }

    /// - Parameter text: an expression of the page.
    private func find(_ text: String, in fixture: PageFixture) async throws {
        try await fixture.browser.run(
            """
            document.querySelector("#device").value = \(text),
            document.querySelector("#device").dispatchEvent(new Event("input"))
            """)
    }
}
