import TestKit
import Testing

extension ToolTests {
    /// The simulator's page in a browser.
    ///
    /// This file has the tests that concern the whole page. Each part of the page has its own file.
    @Suite struct Page {}
}

extension ToolTests.Page {
    @Test func `shows markup as text, and runs no script in it`() async throws {
        let fixture = try await PageFixture()
        let title = "<img src=/x onerror=window.owned=1>"
        let body = "<script>window.owned=1</script><b>&amp;</b>"
        try await fixture.push(
            #"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"},"thread-id":"<i>","sound":"<u>"},"k":"<s>"}"#,
            ["apns-collapse-id: <em>"])
        try await fixture.browser.wait(
            until: "document.querySelector('#stacks .card') && document.querySelector('.row')")
        #expect(try await fixture.browser.text("document.querySelector('.card .title').textContent") == title)
        #expect(try await fixture.browser.text("document.querySelector('.card .body').textContent") == body)
        #expect(
            try await fixture.browser.text("document.querySelector('.row .opener').textContent")
                == "\(title) · \(body)")
        try await fixture.browser.run("document.querySelector('.row .opener').click()")
        try await fixture.browser.wait(until: "document.querySelector('#detail pre')")
        #expect(try await fixture.browser.text("document.querySelector('#detail pre').textContent").contains(title))
        let made = "document.querySelectorAll('img, b, i, u, s, em, body script').length"
        #expect(try await fixture.browser.number(made) == 0)
        #expect(try await fixture.browser.holds("window.owned === undefined"))
        // The page's policy forbids scripts to parse text as markup.
        await #expect(throws: ProcessError.self) {
            try await fixture.browser.run("document.body.insertAdjacentHTML('beforeend', '<p>')")
        }
        try await fixture.browser.press(.escape)
        try await fixture.end(allowsConsoleMessages: true)
    }

    @Test func `handles a payload of any shape`() async throws {
        let fixture = try await PageFixture()
        for push in Samples.oddPushes { try await fixture.push(push.json, to: push.device, push.headers) }
        let count = Samples.oddPushes.count
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === \(count)")
        // Every request can be opened.
        try await fixture.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
        try await fixture.browser.run(
            """
            window.shown = document.querySelector("#stacks").textContent,
            document.querySelectorAll(".opener").forEach((opener) => {
              opener.click();
              shown += document.querySelector("#detail").textContent;
              document.querySelector("#detail").close();
            })
            """)
        // The name of a built-in property must not be taken for a name that the page knows.
        #expect(try await fixture.browser.holds("shown.includes('constructor') && !shown.includes('native code')"))
        #expect(try await fixture.browser.holds("document.documentElement.scrollWidth <= innerWidth"))
        #expect(try await fixture.browser.text("document.querySelector('#link').dataset.state") == "there")
        try await fixture.end()
    }

    @Test func `fits a phone, and is readable in light and dark mode`() async throws {
        let fixture = try await PageFixture()
        let word = String(repeating: "Donaudampfschifffahrt", count: 8)
        for push in Samples.payloads(longWord: word) {
            #expect(try await fixture.push(push.json, to: push.device, push.headers) == 200, "\(push)")
        }
        try await fixture.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123")
        let browser = fixture.browser
        for fault in Samples.faults {
            try await browser.run("fetch('/v1/faults', { method: 'POST', body: JSON.stringify(\(fault)) })")
        }
        let client = try await fixture.startPush(#"{"aps":{"alert":"Hello"}}"#, to: "ff00")
        try await browser.wait(
            until: "document.querySelectorAll('#fault-list li').length === \(Samples.faults.count)")
        try await browser.wait(until: "document.querySelector('#connection-list li')")
        try await browser.wait(until: "document.querySelector('#rows .refused')")
        try await browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
        for scheme in Browser.Scheme.allCases {
            try await browser.prefer(scheme)
            for (device, width, height) in [("phone", 360, 740), ("tablet", 820, 1180), ("desktop", 1440, 900)] {
                try await browser.resize(width: width, height: height, isPhone: device == "phone")
                for part in ["lock", "requests", "faults", "connections"] {
                    try await browser.run("location.hash = '#\(part)'")
                    try await browser.wait(until: "document.body.dataset.view === '\(part)'")
                    let size = try await browser.number("document.documentElement.scrollWidth")
                    #expect(size <= width, "\(part) on a \(device)")
                    // The header above the view stays visible.
                    #expect(try await browser.number("Math.round(scrollY)") == 0, "\(part) on a \(device)")
                    if device == "desktop" {
                        // The columns scroll, not the page.
                        #expect(try await browser.holds("document.documentElement.scrollHeight <= innerHeight"))
                    }
                    #expect(try await browser.text(Contrast.belowLimit) == "", "\(part) on a \(device), \(scheme)")
                    try await fixture.writePicture("\(device)-\(scheme)-\(part)")
                }
                try await browser.run("document.querySelector('#rows .opener').click()")
                #expect(try await browser.text(Contrast.belowLimit) == "")
                let isInside = "document.querySelector('#detail').scrollWidth <= innerWidth"
                #expect(try await browser.holds(isInside), "a request on a \(device)")
                try await fixture.writePicture("\(device)-\(scheme)-detail")
                try await browser.press(.escape)
                // Without this wait, the dialog would remove the fragment of the next view from the URL.
                try await browser.wait(until: "!location.hash.startsWith('#request-')")
            }
        }
        try await client.terminate()
        try await fixture.end()
    }

    @Test func `continues after an exception in its script`() async throws {
        let fixture = try await PageFixture()
        try await fixture.browser.run(
            """
            window.right = Number.prototype.toLocaleString,
            Number.prototype.toLocaleString = () => {
              Number.prototype.toLocaleString = right;
              window.failed = true;
              throw new Error("made for the test");
            }
            """)
        try await fixture.browser.wait(until: "window.failed")
        try await fixture.push(#"{"aps":{"alert":"Hello"}}"#)
        try await fixture.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
        try await fixture.end(allowsConsoleMessages: true)
    }

    @Test func `reports a lost simulator, and reconnects`() async throws {
        let fixture = try await PageFixture()
        try await fixture.push(#"{"aps":{"alert":"Before"}}"#)
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        try await fixture.simulator.process.terminate()
        try await fixture.browser.wait(until: "!document.querySelector('#gone').hidden")
        #expect(
            try await fixture.browser.text("document.querySelector('#gone').textContent").contains("is not available"))
        let directory = try TemporaryDirectory("again")
        let again = try await SimulatorProcess(
            in: directory, options: ["--admin", "127.0.0.1:\(try #require(fixture.simulator.adminPort))"])
        try await fixture.browser.wait(until: "document.querySelector('#gone').hidden")
        // The page shows the requests of the new simulator process.
        try await fixture.browser.wait(until: "!document.querySelector('#rows .row')")
        try await fixture.end(allowsConsoleMessages: true)
        try await again.process.terminate()
    }
}
