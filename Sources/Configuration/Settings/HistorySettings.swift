/// The settings of a console's history: the section `console.history`.
package struct HistorySettings: Sendable, Equatable {
    /// The folder of the history's files.
    package var folder: String
    /// The number of days for which requests are kept.
    package var days = 7
    /// The maximum size of all files of requests.
    package var bytesMax: Int64 = 20_000_000_000
    /// The path of the key file; nil for a file in the folder, which the console creates.
    package var keysFile: String?

    package init(folder: String) {
        self.folder = folder
    }
}
