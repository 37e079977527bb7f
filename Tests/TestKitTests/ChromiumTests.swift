import Testing

@testable import TestKit

/// The features of Chromium on which the page tests rely.
@Suite(.timeLimit(.minutes(10))) struct ChromiumTests {
    @Test func `reads a page, operates it, and returns its console messages`() async throws {
        let directory = try TemporaryDirectory("page")
        try directory.write(
            "style.css", "p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) { p { color: red } }")
        let page = try directory.write(
            "page.html",
            """
            <!doctype html><link rel="stylesheet" href="style.css"><p>Hello</p><input>
            <button onclick="this.textContent = document.querySelector('input').value">go</button>
            """)
        let browser = try await Browser()
        try await browser.resize(width: 360, height: 640, isPhone: true)
        try await browser.prefer(.light)
        try await browser.open("file://\(page)")
        #expect(try await browser.text("document.querySelector('p').textContent") == "Hello")
        let color = "getComputedStyle(document.querySelector('p')).color"
        #expect(try await browser.text(color) == "rgb(1, 2, 3)")
        try await browser.prefer(.dark)
        #expect(try await browser.text(color) == "rgb(255, 0, 0)")
        #expect(try await browser.consoleMessages() == [])

        // Chromium applies `autofocus` when it draws a frame, perhaps later.
        try await browser.run("document.querySelector('input').focus()")
        try await browser.type("by keyboard")
        try await browser.press(.tab)
        try await browser.press(.enter)
        try await browser.wait(until: "document.querySelector('button').textContent === 'by keyboard'")
        await #expect(throws: ProcessError.self) { try await browser.run("missing.thing") }
        await #expect(throws: ProcessError.self) {
            try await browser.wait(until: "false", within: .milliseconds(10))
        }

        try await browser.run("console.error('oh')")
        #expect(try await browser.consoleMessages().count == 1)
        #expect(try await browser.requestedURLs() == ["file://\(page)", "file://\(directory.file("style.css"))"])
        let screenshot = directory.file("picture.png")
        try await browser.writePicture(to: screenshot)
        #expect(try await ChildProcess.run(["head", "-c", "4", screenshot]).output.first?.hasSuffix("PNG") == true)
        try await browser.close()
    }
}
