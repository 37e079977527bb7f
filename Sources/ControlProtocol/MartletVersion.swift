/// The version of this build, which `martlet --version`, the status and the logs show.
package enum MartletVersion {
    package static let current = "0.1.0"
}
