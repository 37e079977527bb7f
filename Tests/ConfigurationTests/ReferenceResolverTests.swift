import Testing

@testable import Configuration

@Suite struct ReferenceResolverTests {
    let resolver = ReferenceResolver(
        environment: { ["PASSWORD": "hunter2", "EMPTY": "", "NEST": "${PASSWORD}"][$0] },
        readFile: { path throws(ReferenceResolver.ReadFailure) in
            switch path {
            case "secret": Array("hunter2\n".utf8)
            case "windows": Array("hunter2\r\n".utf8)
            case "hunter2/x": Array("by variable".utf8)
            case "binary": [0xff, 0xfe]
            default: throw ReferenceResolver.ReadFailure(reason: "no such file")
            }
        })

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("$5 $", "$5 $"), ("a${PASSWORD}b${EMPTY}", "ahunter2b"),
        ("$${PASSWORD}", "${PASSWORD}"), ("${NEST}", "${PASSWORD}"), ("file:secret", "hunter2"),
        ("file:windows", "hunter2"), ("file:${PASSWORD}/x", "by variable"), ("see file:secret", "see file:secret"),
    ])
    func resolves(text: String, result: String) throws {
        #expect(try resolver.resolve(text) == result)
    }

    @Test(arguments: [
        ("${NOT_SET}", "environment variable NOT_SET is not set"),
        ("${PASSWORD", "missing } after ${"),
        ("${}", "expected the name of an environment variable between ${ and }: letters, digits and _"),
        ("${PASS WORD}", "expected the name of an environment variable between ${ and }: letters, digits and _"),
        ("${1A}", "expected the name of an environment variable between ${ and }: letters, digits and _"),
        ("file:gone", "cannot read gone: no such file"),
        ("file:binary", "binary must be UTF-8 text"),
    ])
    func mistakes(text: String, message: String) {
        #expect(throws: ReferenceResolver.Mistake(message: message)) { try resolver.resolve(text) }
    }

    @Test func aPathIsRelativeToTheFileThatNamesIt() {
        #expect(FileReader.path("a.p8", relativeTo: "/etc/martlet/martlet.yaml") == "/etc/martlet/a.p8")
        #expect(FileReader.path("/a.p8", relativeTo: "/etc/martlet/martlet.yaml") == "/a.p8")
        #expect(FileReader.path("keys/a.p8", relativeTo: "martlet.yaml") == "keys/a.p8")
    }
}
