import Glibc
import TestKit
import Testing

/// The existence of the paths and types that the pages for developers name.
@Suite struct DeveloperPagesTests {
    @Test func thePathsOfEachChangeExist() throws {
        let names = try Self.names(in: "Changing.md").filter { $0.contains("/") && !$0.contains("…") }
        #expect(names.count > 80)
        for name in names {
            let exists = ["", "Sources/", "Tests/"].contains { access(Products.file($0 + name), F_OK) == 0 }
            #expect(exists, "\(name)")
        }
    }

    /// The names of types and members, such as `Breaker` or `Breaker.firstProbeSeconds`, exist in the sources.
    @Test func theTypesOfThePagesExist() throws {
        let sources = try Files.paths(below: "Sources").filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }
        let declared = try Set(
            sources.flatMap { file in
                String(decoding: try Files.bytes(of: Products.file(file)), as: UTF8.self).split {
                    !$0.isLetter && !$0.isNumber
                }
            })
        for page in ["Architecture.md", "Changing.md", "Structure.md"] {
            let types = try Self.names(in: page).filter { $0.wholeMatch(of: /[A-Z][a-z]\w*(\.[a-z]\w*)*/) != nil }
            // Skip the names of files and of test folders.
            for type in types where !type.hasSuffix(".swift") && !type.hasSuffix("Tests") {
                #expect(type.split(separator: ".").allSatisfy(declared.contains), "\(page): \(type)")
            }
        }
    }

    /// Returns the texts in backticks outside code blocks.
    private static func names(in page: String) throws -> [String] {
        let path = Products.file("Sources/Documentation/Developers/\(page)")
        let text = String(decoding: try Files.bytes(of: path), as: UTF8.self).replacing(/(?s)```.*?```/, with: "")
        return text.matches(of: /`([^`\n]*)`/).map { String($0.1) }
    }
}

extension Files {
    /// Returns the paths of all files below a folder, relative to the root of the repository. A name that contains a
    /// dot counts as a file.
    static func paths(below folder: String) throws -> [String] {
        try names(in: Products.file(folder)).flatMap { name in
            name.contains(".") ? ["\(folder)/\(name)"] : try paths(below: "\(folder)/\(name)")
        }
    }
}
