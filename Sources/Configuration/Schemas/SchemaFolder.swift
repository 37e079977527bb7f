import Glibc
package import JSON
package import JSONSchema
import Text

/// A compiler of a schema file and the schemas that it refers to. These are named resources, and files in its folder
/// and subfolders. A reference names a file by the path relative to the referring file. For files in the folder itself,
/// a reference may also be the `$id`.
package struct SchemaFolder {
    /// Maximum number of files whose `$id` is read in a folder.
    static let filesMax = 1000
    package static let limits = JSONLimits(bytesMax: 16 << 20, depthMax: 10_000)

    package var resources: [NamedResource] = []
    package var options = SchemaOptions()
    /// Remedy for an unresolved reference.
    package var hint = "payload schemas may refer only to files in their folder and its subfolders"
    /// Whether to read a named pipe, which blocks until another process writes to it.
    package var readsPipes = false

    package init(
        resources: [NamedResource] = [], options: SchemaOptions = SchemaOptions(),
        hint: String = "payload schemas may refer only to files in their folder and its subfolders",
        readsPipes: Bool = false
    ) {
        self.resources = resources
        self.options = options
        self.hint = hint
        self.readsPipes = readsPipes
    }

    package func compile(
        _ path: String, noting sources: FileSources = FileSources()
    ) throws(SchemaFileProblem) -> CompiledSchema {
        sources.note(path)
        let place = Self.absolute(path)
        sources.note(place)
        let document = try Self.document(path, readsPipes: readsPipes)
        let uri = Self.uri(of: place)
        let folder = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
        var known = try known(beside: folder, document, sources)
        do throws(SchemaError) {
            return try CompiledSchema(document, uri: uri, resources: known, options: options)
        } catch {
            guard error.code == .missing else { throw problem(path, document, uri, error) }
        }
        // Search all files in the folder for their `$id` only if a reference is unresolved.
        let broken = search(folder, sources, &known)
        do throws(SchemaError) {
            return try CompiledSchema(document, uri: uri, resources: known, options: options)
        } catch {
            throw problem(path, document, uri, error, broken)
        }
    }

    private func problem(
        _ path: String, _ document: JSONDocument, _ uri: String, _ error: SchemaError,
        _ broken: SchemaFileProblem? = nil
    ) -> SchemaFileProblem {
        var error = error
        if error.code == .missing { error.message += ": \(hint)" + (broken.map { "; \($0)" } ?? "") }
        guard error.uri == uri else { return SchemaFileProblem(path: path, message: "\(error)") }
        error.uri = ""
        let position = document.root.at(pointer: error.pointer).map { document.position(of: $0) }
        return SchemaFileProblem(path: path, position: position, message: "\(error)")
    }

    /// Returns the schemas that references can name. Named resources take precedence over files in the folder.
    private func known(
        beside folder: String, _ document: JSONDocument, _ sources: FileSources
    ) throws(SchemaFileProblem) -> SchemaResources {
        var known = SchemaResources(limits: Self.limits) { sources.note($0) }
        for resource in resources.sorted(by: { $0.uri.utf8.count > $1.uri.utf8.count }) {
            if Self.isFolder(resource.path) {
                known.add(prefix: resource.uri, folder: resource.path)
            } else {
                known.add(uri: resource.uri, document: try Self.document(resource.path, readsPipes: readsPipes))
            }
        }
        known.add(prefix: Self.uri(of: folder + "/"), folder: folder)
        if let id = document.root["$id"]?.string, let slash = id.lastIndex(of: "/"), id.contains("://") {
            known.add(prefix: String(id[...slash]), folder: folder)
        }
        return known
    }

    /// Adds the `.json` schemas of a folder by their `$id`, unless the URI is already known.
    ///
    /// - Returns: the problem of the first unusable file, which may contain the missing schema; nil if all files are
    ///   usable.
    private func search(
        _ folder: String, _ sources: FileSources, _ known: inout SchemaResources
    ) -> SchemaFileProblem? {
        var broken: SchemaFileProblem?
        sources.note(folder + "/")
        for name in Self.names(in: folder + "/").filter({ $0.hasSuffix(".json") }).prefix(Self.filesMax) {
            let path = "\(folder)/\(name)"
            sources.note(path)
            do throws(SchemaFileProblem) {
                let other = try Self.document(path)
                if let id = other.root["$id"]?.string { known.addUnlessGiven(uri: id, document: other) }
            } catch {
                broken = broken ?? error
            }
        }
        return broken
    }

    private static func document(_ path: String, readsPipes: Bool = false) throws(SchemaFileProblem) -> JSONDocument {
        let text: [UInt8]
        do {
            text = try FileReader.bytes(
                of: path, bytesMax: limits.bytesMax, refusesPipes: !readsPipes)
        } catch {
            throw SchemaFileProblem(path: path, message: "cannot read the file: \(error.reason)")
        }
        do {
            return try JSONDocument(text, limits: limits)
        } catch {
            throw SchemaFileProblem(path: path, position: error.position, message: error.message)
        }
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Returns the `file` URI of a path (RFC 8089). Percent-encodes all bytes except unreserved characters and slashes.
    private static func uri(of path: String) -> String {
        var uri = "file://"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                uri += digits.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return uri
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the sorted names in a folder. The choice between files with the same `$id` is therefore deterministic.
    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.sorted()
    }
}

/// A file that has a URI, or a folder whose files have URIs with a prefix (`--resource URI=FILE|FOLDER`).
package struct NamedResource: Equatable, Sendable {
    package var uri: String
    package var path: String

    package init(uri: String, path: String) {
        self.uri = uri
        self.path = path
    }
}

/// The reason why a schema file cannot be used, for its author.
package struct SchemaFileProblem: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var position: JSONPosition?
    package var message: String

    package var description: String {
        "\(position.map { "\(path):\($0.line):\($0.column)" } ?? path): \(message)".printable
    }
}

extension CompiledSchema {
    /// Warnings about keywords that are allowed but probably typing errors.
    package var warnings: [String] { unknownKeywords.map { "unknown keyword at \($0)".printable } }
}
