import TestKit
import Testing

extension ToolTests {
    /// The simulator's page, as people see and use it.
    @Suite struct Page {
        @Test func `shows a push as a lock screen would`() async throws {
            let stage = try await PageStage()
            #expect(try await stage.browser.text("document.querySelector('#rows').textContent") == "")
            let status = try await stage.push(
                #"{"aps":{"alert":{"title":"Storm warning","subtitle":"Hamburg","body":"Stay in — it is öde outside."},"#
                    + #""badge":3,"sound":"default","interruption-level":"time-sensitive","thread-id":"north"}}"#,
                ["apns-topic: com.example.app"])
            #expect(status == 200)
            try await stage.browser.wait(until: "document.querySelector('#stacks .card')")
            let card = "document.querySelector('#stacks .card')"
            #expect(try await stage.browser.text("\(card).querySelector('.title').textContent") == "Storm warning")
            #expect(try await stage.browser.text("\(card).querySelector('.subtitle').textContent") == "Hamburg")
            #expect(
                try await stage.browser.text("\(card).querySelector('.body').textContent")
                    == "Stay in — it is öde outside.")
            let whole = try await stage.browser.text("\(card).textContent")
            for word in ["Example", "Time sensitive", "Badge 3", "Sound", "north", "00fc13ad…+8"] {
                #expect(whole.contains(word), "\(word) in \(whole)")
            }
            try await stage.end()
        }

        @Test func `stacks a thread, and lets one push take another's place`() async throws {
            let stage = try await PageStage()
            for (title, thread) in [("One", "a"), ("Two", "a"), ("Other", "b"), ("Three", "a")] {
                try await stage.push(#"{"aps":{"alert":{"title":"\#(title)"},"thread-id":"\#(thread)"}}"#)
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
            let titles = "JSON.stringify([...document.querySelectorAll('#stacks .title')].map((p) => p.textContent))"
            #expect(try await stage.browser.text(titles) == #"["Three","Other"]"#)
            try await stage.tab(to: ".more")
            try await stage.browser.press(.enter)
            #expect(try await stage.browser.text(titles) == #"["Three","Two","One","Other"]"#)
            #expect(try await stage.browser.text("document.activeElement.textContent") == "Fold")

            for score in ["0:0", "1:0"] {
                try await stage.push(
                    #"{"aps":{"event":"update","timestamp":1,"content-state":{"score":"\#(score)"}}}"#, to: "aa11",
                    ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
            #expect(
                try await stage.browser.number("document.querySelectorAll('.card.liveactivity').length") == 1)
            let activity = try await stage.browser.text("document.querySelector('.card.liveactivity').textContent")
            #expect(activity.contains("1:0") && activity.contains("in place of 1 earlier one"), "\(activity)")
            try await stage.end()
        }

        @Test func `tells devices apart whose tokens begin alike`() async throws {
            let stage = try await PageStage()
            let padding = String(repeating: "0", count: 62)
            for device in ["a1", "b2", "A1"] {
                try await stage.push(
                    #"{"aps":{"event":"update","timestamp":1,"content-state":{"for":"\#(device)"}}}"#,
                    to: padding + device,
                    ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
                try await stage.push(
                    #"{"aps":{"alert":"To \#(device)"}}"#, to: padding + device, ["apns-collapse-id: same"])
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
            try await stage.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
            let activities =
                "[...document.querySelectorAll('.card.liveactivity .pairs dd')].map((dd) => dd.textContent)"
            #expect(try await stage.browser.text("\(activities).join(' ')") == "A1 b2")
            let titles = "[...document.querySelectorAll('.card.alert .title')].map((title) => title.textContent)"
            #expect(try await stage.browser.text("\(titles).join(', ')") == "To A1, To b2")

            // The menu has each once, by names that differ.
            let names = "[...document.querySelectorAll('#device option')].map((option) => option.textContent)"
            #expect(try await stage.browser.number("new Set(\(names)).size") == 3)
            #expect(try await stage.browser.holds("\(names).slice(1).every((name) => name.startsWith('00000000…+56'))"))
            try await stage.browser.run(
                """
                document.querySelector("#device").selectedIndex = 2,
                document.querySelector("#device").dispatchEvent(new Event("change"))
                """)
            #expect(try await stage.browser.text("\(titles).join(', ')") == "To b2")
            try await stage.end()
        }

        @Test func `goes on after a mistake of its own`() async throws {
            let stage = try await PageStage()
            try await stage.browser.run(
                """
                window.right = Number.prototype.toLocaleString,
                Number.prototype.toLocaleString = () => {
                  Number.prototype.toLocaleString = right;
                  window.failed = true;
                  throw new Error("made for the test");
                }
                """)
            try await stage.browser.wait(until: "window.failed")
            try await stage.push(#"{"aps":{"alert":"Hello"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
            try await stage.end(complains: true)
        }

        @Test func `tells in plain words why a push was refused`() async throws {
            let stage = try await PageStage()
            #expect(try await stage.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123") == 410)
            try await stage.browser.wait(until: "document.querySelector('#rows .refused')")
            let row = try await stage.browser.text("document.querySelector('#rows .refused').textContent")
            #expect(row.contains("Unregistered The app is no longer on the device."), "\(row)")
            #expect(try await stage.browser.holds("document.querySelector('#stacks .card') === null"))
            try await stage.browser.wait(until: "document.querySelector('#figure-refused').textContent === '1'")
            try await stage.end()
        }

        @Test func `shows markup as text, and runs nothing of it`() async throws {
            let stage = try await PageStage()
            let title = "<img src=/x onerror=window.owned=1>"
            let body = "<script>window.owned=1</script><b>&amp;</b>"
            try await stage.push(
                #"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"},"thread-id":"<i>","sound":"<u>"},"k":"<s>"}"#,
                ["apns-collapse-id: <em>"])
            try await stage.browser.wait(
                until: "document.querySelector('#stacks .card') && document.querySelector('.row')")
            #expect(try await stage.browser.text("document.querySelector('.card .title').textContent") == title)
            #expect(try await stage.browser.text("document.querySelector('.card .body').textContent") == body)
            #expect(
                try await stage.browser.text("document.querySelector('.row .opener').textContent")
                    == "\(title) · \(body)")
            try await stage.browser.run("document.querySelector('.row .opener').click()")
            try await stage.browser.wait(until: "document.querySelector('#detail pre')")
            #expect(try await stage.browser.text("document.querySelector('#detail pre').textContent").contains(title))
            let made = "document.querySelectorAll('img, b, i, u, s, em, body script').length"
            #expect(try await stage.browser.number(made) == 0)
            #expect(try await stage.browser.holds("window.owned === undefined"))
            // Were there a line of script that makes markup, it would throw.
            await #expect(throws: ProcessError.self) {
                try await stage.browser.run("document.body.insertAdjacentHTML('beforeend', '<p>')")
            }
            try await stage.browser.press(.escape)
            try await stage.end(complains: true)
        }

        @Test func `no shape of a payload breaks it`() async throws {
            let stage = try await PageStage()
            for push in Samples.oddPushes { try await stage.push(push.json, to: push.device, push.headers) }
            let count = Samples.oddPushes.count
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === \(count)")
            // Each can be looked at.
            try await stage.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
            try await stage.browser.run(
                """
                window.shown = document.querySelector("#stacks").textContent,
                document.querySelectorAll(".opener").forEach((opener) => {
                  opener.click();
                  shown += document.querySelector("#detail").textContent;
                  document.querySelector("#detail").close();
                })
                """)
            // What every object has, taken for a name that the page knows.
            #expect(try await stage.browser.holds("shown.includes('constructor') && !shown.includes('native code')"))
            #expect(try await stage.browser.holds("document.documentElement.scrollWidth <= innerWidth"))
            #expect(try await stage.browser.text("document.querySelector('#link').dataset.state") == "there")
            try await stage.end()
        }

        @Test func `shows each connection with its streams`() async throws {
            let stage = try await PageStage("--delay-ms", "600000")
            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#)
            let text = "document.querySelector('#connection-list').innerText"
            try await stage.browser.wait(until: "\(text).includes('1 of 1 stream')")
            let words = try await stage.browser.text(text)
            for word in ["Connection 1", "production, push", "1 request"] {
                #expect(words.contains(word), "\(word) in \(words)")
            }
            #expect(try await stage.browser.text("document.querySelector('#figure-in-flight').textContent") == "1")
            try await client.terminate()
            try await stage.browser.wait(until: "!document.querySelector('#connections-nothing').hidden")
            try await stage.end()
        }

        @Test func `shows a request whole, by keyboard alone`() async throws {
            let stage = try await PageStage()
            // What a program that reads and writes JSON anew would change.
            try await stage.push(#"{"aps":{"alert":"N\u00b0","badge":1.50e1},"a":1,"a":12345678901234567890}"#)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.tab(to: "#rows .opener")
            try await stage.browser.press(.enter)
            #expect(try await stage.browser.holds("document.querySelector('#detail').open"))
            let text = try await stage.browser.text("document.querySelector('#detail').innerText")
            for word in ["1.50e1", #""N\u00b0""#, "12345678901234567890", ":path", "apns-topic", "com.example.app"] {
                #expect(text.contains(word), "\(word) in \(text)")
            }
            // nghttp never lets a provider token into a table.
            let token =
                "[...document.querySelectorAll('.headers li')].find((li) => li.textContent.startsWith('authorization'))"
            #expect(try await stage.browser.text("\(token).textContent").contains("never"))
            try await stage.browser.press(.escape)
            #expect(try await stage.browser.holds("document.querySelector('#detail').open") == false)
            #expect(try await stage.browser.holds("document.activeElement.matches('#rows .opener')"))
            try await stage.end()
        }

        @Test func `adds and removes a fault by keyboard`() async throws {
            let stage = try await PageStage()
            let payload = #"{"aps":{"alert":"Hello"}}"#
            #expect(try await stage.push(payload) == 200)
            try await stage.tab(to: "#fault-topic")
            try await stage.browser.type("com.example.app")
            try await stage.tab(to: "button[value='503']")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "document.querySelector('#fault-list li')")
            #expect(try await stage.push(payload) == 503)
            #expect(try await stage.push(payload, ["apns-topic: com.example.other"]) != 503)
            try await stage.browser.wait(
                until: "document.querySelector('#fault-list .about').textContent.includes('struck once')")
            let words = try await stage.browser.text("document.querySelector('#fault-list').innerText")
            #expect(words.contains("Answers 503 ServiceUnavailable"), "\(words)")
            #expect(words.contains("Requests to com.example.app"), "\(words)")

            try await stage.tab(to: "#fault-list button")
            try await stage.browser.press(.space)
            try await stage.browser.wait(until: "!document.querySelector('#fault-list li')")
            #expect(try await stage.push(payload) == 200)
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

        @Test func `does things to connections at once`() async throws {
            let stage = try await PageStage("--delay-ms", "600000")
            try await stage.tab(to: "[data-action='goaway']")
            try await stage.browser.press(.enter)
            let outcome = "document.querySelector('#action-outcome').textContent"
            try await stage.browser.wait(until: "\(outcome) === 'No client is connected.'")

            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#connection-list .grave')")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "\(outcome) === 'Done to 1 connection.'")
            try await stage.tab(to: "#connection-list .grave")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "!document.querySelector('#connection-list li')")
            try await stage.browser.wait(
                until: "document.querySelector('#connection-outcome').textContent === 'Now connection 1 is cut.'")
            _ = try await client.exit(within: .seconds(30))
            try await stage.end()
        }

        @Test func `sets the clock, and starts over`() async throws {
            let stage = try await PageStage()
            let payload = #"{"aps":{"alert":"Hello"}}"#
            #expect(try await stage.push(payload) == 200)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.tab(to: "[data-offset='3900']")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(
                until: "document.querySelector('#clock-reading').textContent.includes('1 h 5 min ahead')")
            // The token was made by this machine's clock.
            #expect(try await stage.push(payload) == 403)
            try await stage.tab(to: "#reset")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(
                until: "document.querySelector('#clock-reading').textContent.includes('right')")
            try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
            #expect(try await stage.push(payload) == 200)
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
            try await stage.end()
        }

        @Test func `fits a phone, and can be read in light and dark`() async throws {
            let stage = try await PageStage()
            let word = String(repeating: "Donaudampfschifffahrt", count: 8)
            for push in Samples.payloads(longWord: word) {
                #expect(try await stage.push(push.json, to: push.device, push.headers) == 200, "\(push)")
            }
            try await stage.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123")
            let browser = stage.browser
            for fault in Samples.faults {
                try await browser.run("fetch('/v1/faults', { method: 'POST', body: JSON.stringify(\(fault)) })")
            }
            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#, to: "ff00")
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
                        if device == "desktop" {
                            // Its columns scroll, not the whole.
                            #expect(try await browser.holds("document.documentElement.scrollHeight <= innerHeight"))
                        }
                        #expect(try await browser.text(Contrast.belowLimit) == "", "\(part) on a \(device), \(scheme)")
                        try await stage.writePicture("\(device)-\(scheme)-\(part)")
                    }
                    try await browser.run("document.querySelector('#rows .opener').click()")
                    #expect(try await browser.text(Contrast.belowLimit) == "")
                    let isInside = "document.querySelector('#detail').scrollWidth <= innerWidth"
                    #expect(try await browser.holds(isInside), "a request on a \(device)")
                    try await stage.writePicture("\(device)-\(scheme)-detail")
                    try await browser.press(.escape)
                }
            }
            try await client.terminate()
            try await stage.end()
        }

        @Test func `says that the simulator is gone, and comes back with it`() async throws {
            let stage = try await PageStage()
            try await stage.push(#"{"aps":{"alert":"Before"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.simulator.process.terminate()
            try await stage.browser.wait(until: "!document.querySelector('#gone').hidden")
            #expect(try await stage.browser.text("document.querySelector('#gone').textContent").contains("is gone"))
            let directory = try TemporaryDirectory("again")
            let again = try await SimulatorProcess(
                in: directory, options: ["--admin", "127.0.0.1:\(try #require(stage.simulator.adminPort))"])
            try await stage.browser.wait(until: "document.querySelector('#gone').hidden")
            // What it shows is what the new one remembers.
            try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
            try await stage.end(complains: true)
            try await again.process.terminate()
        }
    }
}
