import Glibc
import TestKit
import Testing

/// A simulator process, and its page in a headless Chromium.
struct PageFixture {
    let browser: Browser
    let simulator: SimulatorProcess
    /// The page's URL without the trailing slash.
    let origin: String
    private let directory: TemporaryDirectory

    /// Starts a simulator, and opens its page in a browser.
    ///
    /// - Parameter options: Additional options of the simulator.
    init(_ options: String...) async throws {
        directory = try TemporaryDirectory("page")
        simulator = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"] + options)
        origin = "http://127.0.0.1:\(try #require(simulator.adminPort))"
        browser = try await Browser()
        try await browser.resize(width: 1440, height: 900)
        try await open()
    }

    /// Loads the page and waits until it shows data of the simulator.
    func open(_ part: String = "") async throws {
        // The browser would not reload a URL that differs only in its fragment.
        try await browser.open("about:blank")
        try await browser.open("\(origin)/\(part)")
        try await browser.wait(until: "document.querySelector('#link').dataset.state === 'there'")
        try await browser.wait(until: "document.querySelector('#figure-requests').textContent !== '–'")
    }

    /// Pushes with nghttp and returns the status of the response.
    ///
    /// - Parameter headers: Additional headers, as `name: value`. An `apns-topic` header replaces the default topic.
    @discardableResult
    func push(_ payload: String, to device: String = "00fc13adff785122", _ headers: [String] = []) async throws -> Int {
        let lines = try await ChildProcess.run(command(payload, device, headers)).output
        return try #require(lines.firstMatch(of: ":status: "))
    }

    /// Starts a push without waiting for the response, and returns the client's process.
    func startPush(
        _ payload: String, to device: String = "00fc13adff785122", _ headers: [String] = []
    ) async throws -> ChildProcess {
        try await ChildProcess(command(payload, device, headers))
    }

    /// Sends `requests` pushes to 50 devices. Throws unless each push is answered with 200.
    func load(_ requests: Int) async throws {
        let load = try LoadGenerator(
            connections: 1, streams: 10, devices: 50, authorization: try simulator.authorization(), in: directory)
        _ = try await load.run(requests, port: simulator.port)
    }

    private func command(_ payload: String, _ device: String, _ headers: [String]) throws -> [String] {
        let file = try directory.write("payload.json", payload)
        let topic = headers.contains { $0.hasPrefix("apns-topic:") } ? [] : ["apns-topic: com.example.app"]
        let authorization = "authorization: \(try simulator.authorization())"
        return ["nghttp", "-v", "--no-verify-peer", "-d", file]
            + ([":method: POST", authorization] + topic + headers).flatMap { ["-H", $0] }
            + ["https://127.0.0.1:\(simulator.port)/3/device/\(device)"]
    }

    /// Presses the Tab key until an element that matches `selector` has the focus. Records an issue after `pressesMax`
    /// presses.
    func tab(to selector: String, atMost pressesMax: Int = 80) async throws {
        for _ in 0..<pressesMax {
            try await browser.press(.tab)
            if try await browser.holds("document.activeElement.matches(`\(selector)`)") { return }
        }
        Issue.record("\(selector) cannot be reached with the Tab key")
    }

    /// Closes the browser and stops the simulator.
    ///
    /// Checks that the page has requested nothing from other origins and that its console is empty. Writes a
    /// screenshot if MARTLET_PICTURES is set.
    ///
    /// - Parameter allowsConsoleMessages: Whether the page may have logged to its console.
    func end(allowsConsoleMessages: Bool = false) async throws {
        let elsewhere = try await browser.requestedURLs().filter { !$0.hasPrefix("\(origin)/") && $0 != "about:blank" }
        #expect(elsewhere == [])
        if !allowsConsoleMessages { #expect(try await browser.consoleMessages() == []) }
        try await writePicture("end")
        try await browser.close()
        #expect(try await simulator.process.terminate().status == .exited(0))
    }

    /// Writes a screenshot to the folder that MARTLET_PICTURES names. Does nothing if the variable is not set.
    func writePicture(_ name: String) async throws {
        guard let folder = getenv("MARTLET_PICTURES").map({ String(cString: $0) }) else { return }
        let arrived = "Promise.all(document.getAnimations().map((animation) => animation.finished)).then(() => true)"
        #expect(try await browser.holds(arrived))
        try await browser.writePicture(to: "\(folder)/\(name).png")
    }
}

extension [String] {
    /// Returns the three-digit number after `text` in the first line that contains it; nil if there is none.
    fileprivate func firstMatch(of text: String) -> Int? {
        for line in self {
            if let range = line.firstRange(of: text) { return Int(line[range.upperBound...].prefix(3)) }
        }
        return nil
    }
}
